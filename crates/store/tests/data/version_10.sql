PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO _sqlx_migrations VALUES(1,'memory','2026-11-18 03:25:56',1,X'd19a1daafed8a672c561944f0a8aaec33adc23849f2a77627cade0e15485cd012d53605466d251b1919a729ed43402a0',700338);
INSERT INTO _sqlx_migrations VALUES(3,'alerts','2026-11-18 03:25:56',1,X'80f1467f61e4ac599d02c28f542f0d24ee3d2c7136776e108c3dc913f7990fac10804599ddb3ecf86551a5e0c57336d9',587551);
INSERT INTO _sqlx_migrations VALUES(4,'figures','2026-11-18 03:25:56',1,X'86e83b9b6e299fd924cdf56873bea0a3e1889d5d11fa2a2978ddb9ff7c89768e98fdf333498e0be52cfb3c407aaa3313',557126);
INSERT INTO _sqlx_migrations VALUES(5,'incidents','2026-11-18 03:25:56',1,X'e8172b415d37ba9e3f7e982a269eb1791659c09372128a79af5c4acf5a7a2597fc0899679e42cd1ea05d478364b81929',2270308);
INSERT INTO _sqlx_migrations VALUES(6,'policies','2026-11-18 03:25:56',1,X'e1d6e3c47174cb5bb3931fcc2bf980b87876c244bc5a49af158dab6c0859f8c331197d4af4d8876dd88ba7e2193cb9b7',494383);
INSERT INTO _sqlx_migrations VALUES(7,'sums and settings','2026-11-18 03:25:56',1,X'db3ba5e78c98181080e5b8454c2d2bd38bac1d9df5d55ea6e6fa62e6bca21282d2281d2e445bfd2707466093185d095a',336710);
INSERT INTO _sqlx_migrations VALUES(8,'longer sums','2026-11-18 03:25:56',1,X'a77c9b255031bf80af29f44ad63874cf558f0adede1a4b53a3f0aa7eb8d47b1026f6bccf7222e0d283868a599d751d39',457518);
INSERT INTO _sqlx_migrations VALUES(9,'search','2026-11-18 03:25:56',1,X'0b7058da33e6410a9ee3e54d4e781dfa76d767ba3cce8df43de8c335f3e4e10c060154e778e44f9cd8caf160f9603933',189681);
INSERT INTO _sqlx_migrations VALUES(10,'unscored','2026-11-18 03:25:56',1,X'aa029f355d00f6155b8c44119ba56341a157c9c04e70a67cd742dd1e187b864d71b985c8b1d97460dd96e5f1b8daaf18',230402);
CREATE TABLE agents (
    id text primary key not null,
    name text,
    active integer not null default 1,
    deactivated_by text,
    deactivated_at bigint,
    incident_id text,
    epoch bigint not null default 0,
    window_floor bigint not null default 0,
    enabled integer not null,
    window_size integer not null,
    threshold double precision not null,
    action text not null,
    counting text not null,
    created_at bigint not null,
    last_seen bigint
);
INSERT INTO agents VALUES('researcher','Dr. Ann',1,NULL,NULL,NULL,0,0,1,20,10.0,'deactivate','adaptive',1794972356751,1794972362064);
INSERT INTO agents VALUES('support-chat',NULL,0,'manual',1794972428333,NULL,0,0,1,20,10.0,'deactivate','adaptive',1794972356978,1794972362287);
INSERT INTO agents VALUES('import-fixer',NULL,0,'kill_switch',1794972360632,'01a1ecb0-9fb8-733a-8014-909026fcbb0e',0,0,1,20,10.0,'deactivate','adaptive',1794972357202,1794972361360);
CREATE TABLE events (
    id text primary key not null,
    agent_id text not null,
    epoch bigint not null,
    number bigint,
    event_type text not null,
    timestamp bigint not null,
    conversation text,
    provider text,
    model text,
    status_code integer,
    latency_ms bigint,
    first_byte_ms bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_cache_write bigint,
    tokens_reasoning bigint,
    cost_nano_usd bigint,
    streamed integer not null,
    score double precision,
    similar_prompts integer,
    similar_responses integer,
    repeated_tool_calls integer,
    score_window text,
    would_have_stopped integer not null,
    prompt_hash bigint,
    fingerprint blob,
    error text,
    blocked integer not null,
    block_reason text,
    incident_id text,
    count bigint not null default 1,
    -- The minute of a row that counts refusals of an inactive agent; null for all others.
    minute bigint
, cost_estimated integer not null default 0, model_asked text) without rowid;
INSERT INTO events VALUES('01a1ecb0-908f-7772-bffd-96e5d2050927','researcher',0,1794972356751,'llm_call',1794972356751,'first-5c40391d64c0eeb1','openai','researcher',200,0,0,260,8,65,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'0319000101a1ecb0908f7772bffd96e5d20509278f90b0eca10100008f90b0eca10100000000de04a684447897522dd84146ae87daa862c49aee49455fbf0000000000000000bd53be1d1cc5423e7342dbbd3ebec3ec44003580580a0107519693b6bf2070cf',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9172-726e-9b11-87b1aea5eef8','support-chat',0,1794972356978,'llm_call',1794972356978,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,31,24,7,0,NULL,NULL,0,0.0,0,0,0,'agent',0,-631117157924317303,X'030b000101a1ecb09172726e9b1187b1aea5eef87291b0eca10100007291b0eca1010000000053e99e646fc7589a63ac2f74f59e4c1f1ecc0275de6d3d03000000000000000035e8acbaed347340895744e649d23df700e6bc18076c049900e6bc18076c0499',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9252-74ad-bdb4-c5e376590258','import-fixer',0,1794972357202,'llm_call',1794972357202,'first-78ba7505e2bfa5f1','openai','import-fixer',200,0,0,31,27,7,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-8416936993896852526,X'0309000101a1ecb0925274adbdb4c5e3765902585292b0eca10100005292b0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-933c-7420-a995-81f03bea5b75','researcher',0,1794972356752,'llm_call',1794972357436,'first-5c40391d64c0eeb1','openai','researcher',200,1,1,331,10,82,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'033d800101a1ecb0933c7420a99581f03bea5b759090b0eca10100003c93b0eca10100000000de04a6844478975219308f5893ce7dad62c49aee49455fbf00000000020000008e84d5437c72e7fc7342dbbd3ebec3ec277f44cff335e184277f44cff335e184f09cb7a8f09cb7a8f09cb7a8000000000000000000000000e183b3009026e048589f91045a4dde18',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9424-7192-9bc9-344e64416b9e','support-chat',0,1794972356979,'llm_call',1794972357668,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,82,26,20,0,NULL,NULL,0,0.0,0,0,0,'agent',0,-5629490037532624829,X'0309000101a1ecb0942471929bc9344e64416b9e7391b0eca10100002494b0eca1010000000053e99e646fc7589a182f0a15565ef6147fe7392be34c605c01000000000000003adee9597c67a6a34378441ea308e0b1e6e7142c397d56bbe6e7142c397d56bb',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9508-776c-803c-406f5a3c8c2a','import-fixer',0,1794972357203,'llm_call',1794972357896,'first-78ba7505e2bfa5f1','openai','import-fixer',200,0,0,31,27,7,NULL,0,NULL,0,1.0,1,0,0,'agent',0,-8416936993896852526,X'0309000101a1ecb09508776c803c406f5a3c8c2a5392b0eca10100000895b0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-95ea-760e-bc80-0b9b4c20e2b1','researcher',0,1794972356753,'llm_call',1794972358122,'first-5c40391d64c0eeb1','openai','researcher',200,0,0,412,14,103,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'033d800101a1ecb095ea760ebc800b9b4c20e2b19190b0eca1010000ea95b0eca10100000000de04a6844478975209b7ffc43d45472962c49aee49455fbf000000000400000023151e890aed129a7342dbbd3ebec3ec97cad16fc094631f97cad16fc094631f837654378376543783765437000000000000000000000000603e848009029d5b603e848009029d5b',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-96d3-73fa-ad81-d5d5e26e8044','support-chat',0,1794972356980,'llm_call',1794972358355,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,138,21,34,0,NULL,NULL,0,0.0,0,0,0,'agent',0,2101432976848463376,X'0309000101a1ecb096d373faad81d5d5e26e80447491b0eca1010000d396b0eca1010000000053e99e646fc7589a05fc4f907a5d6de8f518646cd029183802000000000000000144a5ea0a4363811026589828ca291da700216443ab04a0a700216443ab04a0',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-97b2-7779-b814-a0527aeb0354','import-fixer',0,1794972357204,'llm_call',1794972358578,'first-78ba7505e2bfa5f1','openai','import-fixer',200,0,0,31,27,7,NULL,0,NULL,0,4.0,2,1,0,'agent',0,-8416936993896852526,X'0309000101a1ecb097b27779b814a0527aeb03545492b0eca1010000b297b0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9898-745c-a6c8-8fe6bc14206a','researcher',0,1794972356754,'llm_call',1794972358808,'first-5c40391d64c0eeb1','openai','researcher',200,1,0,495,13,123,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'033d800101a1ecb09898745ca6c88fe6bc14206a9290b0eca10100009898b0eca10100000000de04a684447897523fca0fa8ec56896f62c49aee49455fbf00000000060000003d94b949b8baaaf57342dbbd3ebec3ec4c4c8edf12a04e444c4c8edf12a04e44b799e57db799e57db799e57d000000000000000000000000b04a501694a090857047c0135720a88c',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-997c-70e6-bd6a-f64974e3ddd4','support-chat',0,1794972356981,'llm_call',1794972359036,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,185,25,46,0,NULL,NULL,0,0.0,0,0,0,'agent',0,5765887814717739485,X'0309000101a1ecb0997c70e6bd6af64974e3ddd47591b0eca10100007c99b0eca1010000000053e99e646fc7589a7b81ae0c769a7928e89616c6af38b2bf03000000000000001986d179e0a852c1dd1101236b8c04503fc8a4207bc0847b3fc8a4207bc0847b',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9a5d-70d1-98bb-0c4a632c3fb3','import-fixer',0,1794972357205,'llm_call',1794972359261,'first-78ba7505e2bfa5f1','openai','import-fixer',200,0,0,31,27,7,NULL,0,NULL,0,7.0,3,2,0,'agent',0,-8416936993896852526,X'0309000101a1ecb09a5d70d198bb0c4a632c3fb35592b0eca10100005d9ab0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9b40-7277-aed6-fa2fa7961eb7','researcher',0,1794972356755,'llm_call',1794972359488,'first-5c40391d64c0eeb1','openai','researcher',200,1,0,580,16,145,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'033d800101a1ecb09b407277aed6fa2fa7961eb79390b0eca1010000409bb0eca10100000000de04a684447897522dd13d87967e949f62c49aee49455fbf00000000080000009631963a55e79a0c7342dbbd3ebec3eca08fda665c9714336a3d338cea0cbf7b0e5522a70e5522a70e5522a70000000000000000000000005383acc36c5221135383acc36c522113',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9c28-7211-a4a0-91f680d83550','support-chat',0,1794972356982,'llm_call',1794972359720,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,235,20,58,0,NULL,NULL,0,0.0,0,0,0,'agent',0,3213412901244456001,X'030b000101a1ecb09c287211a4a091f680d835507691b0eca1010000289cb0eca1010000000053e99e646fc7589a62f5ce3094154b468ca1e271e3642d1c04000000000000002f87e693495fb106414c551f0256982ca00079afda1b0074a00079afda1b0074',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9d08-73fb-ad42-ac24ce4cd98e','import-fixer',0,1794972357206,'llm_call',1794972359944,'first-78ba7505e2bfa5f1','openai','import-fixer',200,0,0,31,27,7,NULL,0,NULL,0,10.0,4,3,0,'agent',0,-8416936993896852526,X'0309000101a1ecb09d0873fbad42ac24ce4cd98e5692b0eca1010000089db0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9dec-75d4-9d44-ecb5b60d9ccb','researcher',0,1794972356756,'llm_call',1794972360172,'first-5c40391d64c0eeb1','openai','researcher',200,1,0,662,15,165,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'031d800101a1ecb09dec75d49d44ecb5b60d9ccb9490b0eca1010000ec9db0eca10100000000de04a68444789752892df4f0cab4343262c49aee49455fbf000000000a0000005d88fd7f4190ee717342dbbd3ebec3ec94ac828597b8dbbe94ac828597b8dbbe3f6dbf133f6dbf133f6dbf130000000000000000000000007323adad7c56a1477323adad7c56a147',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9ed6-750f-b8f9-20e1ad65e24a','support-chat',0,1794972356983,'llm_call',1794972360406,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,286,26,71,0,NULL,NULL,0,0.0,0,0,0,'agent',0,-5034697698973429679,X'0309000101a1ecb09ed6750fb8f920e1ad65e24a7791b0eca1010000d69eb0eca1010000000053e99e646fc7589a209f8b2f76700bdf1f78590a9d060efe0500000000000000cb8d94c6fb635eb1515036251e2921ba668a36723ff58adc668a36723ff58adc',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-9fb8-72dd-a18f-08f89e508a46','import-fixer',0,1794972357207,'kill_switch',1794972360632,'first-78ba7505e2bfa5f1','openai','import-fixer',400,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,13.0,5,4,0,'agent',0,-8416936993896852526,X'0301000301a1ecb09fb872dda18f08f89e508a465792b0eca1010000b89fb0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318b',NULL,1,'inactive','01a1ecb0-9fb8-733a-8014-909026fcbb0e',1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a0c0-709d-b788-9c92a4d30d81','researcher',0,1794972356757,'llm_call',1794972360896,'first-5c40391d64c0eeb1','openai','researcher',200,1,0,745,12,186,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'031d800101a1ecb0a0c0709db7889c92a4d30d819590b0eca1010000c0a0b0eca10100000000de04a68444789752fc34f6bd5edda56a62c49aee49455fbf000000000c000000ef085b8b6af66bec7342dbbd3ebec3ece26b0a893f213082e26b0a893f21308293eed8ab93eed8ab93eed8ab000000000000000000000000a62d448c06815051a62d448c06815051',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a1a2-7280-a72e-6039a8afec53','support-chat',0,1794972356984,'llm_call',1794972361122,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,335,27,83,0,NULL,NULL,0,0.0,0,0,0,'agent',0,6848587387702578644,X'030b000101a1ecb0a1a27280a72e6039a8afec537891b0eca1010000a2a1b0eca1010000000053e99e646fc7589a1276e3e8a97387f2806e9cc8b083394d06000000000000005fd88b07ae98d567d48d3b99f1110b5f98b8a643832f827398b8a643832f8273',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a290-77ed-ac22-979342841f06','import-fixer',0,NULL,'blocked',1794972361360,NULL,NULL,NULL,400,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,1,'inactive','01a1ecb0-9fb8-733a-8014-909026fcbb0e',1,29916206,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a388-71f0-8c42-d4f523c537e5','researcher',0,1794972356758,'llm_call',1794972361608,'first-5c40391d64c0eeb1','openai','researcher',200,1,0,826,10,206,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'033d800101a1ecb0a38871f08c42d4f523c537e59690b0eca101000088a3b0eca10100000000de04a68444789752701b544edfaa1ee662c49aee49455fbf000000000e000000071499c82c8d00ed7342dbbd3ebec3ec634b5a10c7be4703634b5a10c7be4703d4187ba6d4187ba6d4187ba6000000000000000000000000881368141117400a57a559a7089f20ff',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a471-76cb-8e85-f53b060c158f','support-chat',0,1794972356985,'llm_call',1794972361841,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,385,22,96,0,NULL,NULL,0,0.0,0,0,0,'agent',0,1742951091908444353,X'030b000101a1ecb0a47176cb8e85f53b060c158f7991b0eca101000071a4b0eca1010000000053e99e646fc7589a391f1c3d0bff683aa15a2afd75e4126f07000000000000003b23ba6f832d97fbc1001596c83430185520539694b259595520539694b25959',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a550-7538-b65d-7898110bd367','researcher',0,1794972356759,'llm_call',1794972362064,'first-5c40391d64c0eeb1','openai','researcher',200,1,1,901,17,225,NULL,0,NULL,0,0.0,0,0,0,'agent',0,-1386055083617467789,X'032d800101a1ecb0a5507538b65d7898110bd3679790b0eca101000050a5b0eca10100000000de04a68444789752bb828ad79f9123c262c49aee49455fbf000000001000000070fb6bd4ec52d1177342dbbd3ebec3ec4f15f26900797a894f15f26900797a899e757c3d9e757c3d9e757c3d00000000000000000000000020c251a88772895220c251a887728952',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb0-a62e-70b3-aefa-c7f3d4b28aea','support-chat',0,1794972356986,'llm_call',1794972362287,'first-ef013a9cd109b3b7','anthropic','support-chat',200,0,0,435,21,108,0,NULL,NULL,0,0.0,0,0,0,'agent',0,-4493422503920159812,X'0309000101a1ecb0a62e70b3aefac7f3d4b28aea7a91b0eca10100002fa6b0eca1010000000053e99e646fc7589ad5313f5e472701ac06bae7b0438094110800000000000000990d64347b9df9e6bcb317340a28a4c101478c035d1e8ff201478c035d1e8ff2',NULL,0,NULL,NULL,1,NULL,0,NULL);
INSERT INTO events VALUES('01a1ecb1-a82d-7b69-a4d3-9b51ac41309d','support-chat',0,NULL,'agent_deactivated',1794972428333,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,0,NULL,NULL,1,NULL,0,NULL);
CREATE TABLE incidents (
    id text primary key not null,
    agent_id text not null,
    epoch bigint not null,
    timestamp bigint not null,
    state text not null,
    provider text not null,
    model text,
    conversation text,
    score double precision not null,
    similar_prompts integer not null,
    similar_responses integer not null,
    repeated_tool_calls integer not null,
    score_window text not null,
    enabled integer not null,
    window_size integer not null,
    threshold double precision not null,
    action text not null,
    counting text not null,
    closed_at bigint,
    feedback text,
    evidence_count bigint not null
, stuck_since bigint, stuck_calls bigint not null default 0, cycle_period bigint, cycle_laps bigint, loop_cost_nano_usd bigint, fingerprints blob, refused bigint not null default 0, closed_by text);
INSERT INTO incidents VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e','import-fixer',0,1794972360632,'open','openai','import-fixer','first-78ba7505e2bfa5f1',13.0,5,4,0,'agent',1,20,10.0,'deactivate','adaptive',NULL,NULL,6,1794972357202,6,1,6,NULL,X'660309000101a1ecb0925274adbdb4c5e3765902585292b0eca10100005292b0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435660309000101a1ecb09508776c803c406f5a3c8c2a5392b0eca10100000895b0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435660309000101a1ecb097b27779b814a0527aeb03545492b0eca1010000b297b0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435660309000101a1ecb09a5d70d198bb0c4a632c3fb35592b0eca10100005d9ab0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435660309000101a1ecb09d0873fbad42ac24ce4cd98e5692b0eca1010000089db0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318bd1b395727ac85435d1b395727ac85435560301000001a1ecb09fb872dda18f08f89e508a465792b0eca1010000b89fb0eca10100000000d0ab2bc0f21d3996dd4d43f91f7072fd13e24b4a120ac60b0000000000000000eedd6424d04e1655d213ef1d6608318b',1,NULL);
CREATE TABLE evidence (
    incident_id text not null references incidents (id) on delete cascade,
    position integer not null,
    call_id text not null,
    timestamp bigint,
    matched text not null,
    prompt text,
    response text,
    request_body blob,
    response_body blob,
    request_chars bigint not null,
    response_chars bigint not null,
    truncated integer not null, alike text not null default '[]', tool_calls text,
    primary key (incident_id, position)
);
INSERT INTO evidence VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e',0,'01a1ecb0-9252-74ad-bdb4-c5e376590258',1794972357202,'["prompt","response"]','Fix the failing import in loader.py and run the tests again.','The import fails because the module path is wrong. I changed it in loader.py; please run the tests again.',X'28b52ffd207e4503003207171980b76dc64599dc7bdaf18d7e090f32800c40f9854e36410701cb179334889b273c4b7d102c5f64e4e698d67e78a179e88c9bb115593b7a56388ac5732b99a6f5ae43a521cd94671812da9204dcbc155bd7e04ac09c111d33aa2b01020057c23cb12e6506',X'28b52ffd605101fd0a00961a4b21404ddb06bfe431d9404b2774ff7f5b934b9c5a6d34110183b8123f422ecb3000103f00420042008b9e54149ede2dbbad3a625848e7b6dad8db1a7e223d1364cee58831a6a573639f4b961d05a447e46a7a74b7cd4f6fcb98ef50589b229f5848e754ba8afa446c1f4366907c475734c5040f376737e69d644ce60e828453bc5cb8ec343dad6765d2505127e12892b60fe2b01ea5d19d64ccdae5a4d2279941958dc34c1139fdd6052fb58f54faf0928fde563b995b56295a6543638ffe32421180a7b35cbb1c7d01c0dca21a15f5f4a5478c82c500e380e0802190beb2319f3a62689a77c36665c6a7674d6350c0b0b78f1ac64a45a11258b45bf6b9a326697a14b0ba18668a9deb408c81746ee9b07d30476f7a3453a67138449f7b9934458e259b25f8e8cd1844723d3d110035e5005894856f003ab6590ece1ec7740ca94502d7c5757c56b88126a27a1bf4ee50732d7e36229251eb0d579002',126,593,0,'[{"by":"prompt","with":"01a1ecb0-9fb8-72dd-a18f-08f89e508a46","distance":0},{"by":"response","with":"01a1ecb0-9d08-73fb-ad42-ac24ce4cd98e","distance":0}]',NULL);
INSERT INTO evidence VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e',1,'01a1ecb0-9508-776c-803c-406f5a3c8c2a',1794972357896,'["prompt","response"]','Fix the failing import in loader.py and run the tests again.','The import fails because the module path is wrong. I changed it in loader.py; please run the tests again.',X'28b52ffd207e4503003207171980b76dc64599dc7bdaf18d7e090f32800c40f9854e36410701cb179334889b273c4b7d102c5f64e4e698d67e78a179e88c9bb115593b7a56388ac5732b99a6f5ae43a521cd94671812da9204dcbc155bd7e04ac09c111d33aa2b01020057c23cb12e6506',X'28b52ffd6051010d0b00969a4b21404ddb06bfe431d960bb6fccdafffe269738b5da68220a995d0db9423a8e6118103f00420043004c225c18aede8aadbb9e1c1ad45937fb7a55ef15eaa81c33324f8c39aace8d6d8db2ec29407d0211cda737db7c755d3e6cc7c2a999bca2419d71e52eeb15016c1b3b76126c4f5f689e72889bb1d56908f990354881a25934446e19d2449d0841456f5968012d14dd268138d1d2d720640eb20cc2a511b2730b1b88595e82ba6d130db30f5c19d1909fae9b8dac61762d7ae143639fde70221380ab33449679fa01006b98d5b7acab23f9c4302018602414243004d411ecc3b69e1c9ee7add79ccc77750ccf8360c0aeb79f1e0682cbba2540d00db3ad797a14cda7804dc46196d7881c8931a0ce8a10db87f374cda3593a8da349b2350d15cde460b099829fdeccb90491ab07110035e5005894856f003ab6590ece1ec7740ca94502d7c5757c56b88126a27a1bf4ee50732d7e36229251eb0d579002',126,593,0,'[{"by":"prompt","with":"01a1ecb0-9fb8-72dd-a18f-08f89e508a46","distance":0},{"by":"response","with":"01a1ecb0-9d08-73fb-ad42-ac24ce4cd98e","distance":0}]',NULL);
INSERT INTO evidence VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e',2,'01a1ecb0-97b2-7779-b814-a0527aeb0354',1794972358578,'["prompt","response"]','Fix the failing import in loader.py and run the tests again.','The import fails because the module path is wrong. I changed it in loader.py; please run the tests again.',X'28b52ffd207e4503003207171980b76dc64599dc7bdaf18d7e090f32800c40f9854e36410701cb179334889b273c4b7d102c5f64e4e698d67e78a179e88c9bb115593b7a56388ac5732b99a6f5ae43a521cd94671812da9204dcbc155bd7e04ac09c111d33aa2b01020057c23cb12e6506',X'28b52ffd6051010d0b00969a4b21404ddb06bfe431d960bb6fccdafffe269738b5da681a04985d0db9423a8e6118103f00420043004c225c14aede8aadbb9e1816d45937fb7a55ef13eaa81c33324f8c39aace8d6d8db2ec29403d0211cda737db7c755d3e6cc7c2a9997c62419d71e52eeb13016c1b3b76126c4f57689e72889bb1d56908f990350841a25134446e19d2449d0841456f5928012914dd068138d1d2d720640eb20cc2a511b2730b1b88595e82ba6d130db30f5cf9d0909fae9b8dac6176297a6143639fde30221380ab334496793a038035ccea5bd6d5917c3a30201858300a180b017504fbb0ad2786e779eb3527f35d1d03cf7360c0aeb79f9e0582cbba2540d00db3ad797a14cda7804dc46196d7881c6931a0ce8a0edb87f374cda3593a8da349b2350d15cde460b059829fdeccb90491ab07110035e5005894856f003ab6590ece1ec7740ca94502d7c5757c56b88126a27a1bf4ee50732d7e36229251eb0d579002',126,593,0,'[{"by":"prompt","with":"01a1ecb0-9fb8-72dd-a18f-08f89e508a46","distance":0},{"by":"response","with":"01a1ecb0-9d08-73fb-ad42-ac24ce4cd98e","distance":0}]',NULL);
INSERT INTO evidence VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e',3,'01a1ecb0-9a5d-70d1-98bb-0c4a632c3fb3',1794972359261,'["prompt","response"]','Fix the failing import in loader.py and run the tests again.','The import fails because the module path is wrong. I changed it in loader.py; please run the tests again.',X'28b52ffd207e4503003207171980b76dc64599dc7bdaf18d7e090f32800c40f9854e36410701cb179334889b273c4b7d102c5f64e4e698d67e78a179e88c9bb115593b7a56388ac5732b99a6f5ae43a521cd94671812da9204dcbc155bd7e04ac09c111d33aa2b01020057c23cb12e6506',X'28b52ffd6052010d0b00a69a4b22406bdb0638cb65bb81964e9db5fffd2eaf10c9df01182248e5a808c9caaa2a8a0b023f00420042008da2640eaede2dbbed7a4a4050e7b6dad8db1afea19e0b3267f3c498d3d4d9b1cf2dcb9e00d41d3269fa74b7cd576fcb980f61589b2a7f20a8732e5d66fd116c1f4376947c4f4f34c50511376737e7a1644ce650c1834bbc4c70196a8a5a51924b436621039458dabe06c48a9846879239c936289946c90eae7420668a0aeab72ea98de4528697fcf4b6dac95cb32bd12b151cfbf4970eaa20aece32d9e6e90b0582b9663532ebea893e350602168c864083a1504fb231df7a4a789e77c36665c6ab67cf4330c0b0b79f1e4692ccc2a50868d7ec734fcfd2f4096035719829762648622cd4b9e5c236e23cbd29d24c1d07e2147deee5d254419a6c7ee0a7377350c9e4ea2f110035e5005894856f003ab6590ece1ec8740ca94504d7c5757c56b80127a27a1cf4ee5173358036229251eb0d579002',126,594,0,'[{"by":"prompt","with":"01a1ecb0-9fb8-72dd-a18f-08f89e508a46","distance":0},{"by":"response","with":"01a1ecb0-9d08-73fb-ad42-ac24ce4cd98e","distance":0}]',NULL);
INSERT INTO evidence VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e',4,'01a1ecb0-9d08-73fb-ad42-ac24ce4cd98e',1794972359944,'["prompt","response"]','Fix the failing import in loader.py and run the tests again.','The import fails because the module path is wrong. I changed it in loader.py; please run the tests again.',X'28b52ffd207e4503003207171980b76dc64599dc7bdaf18d7e090f32800c40f9854e36410701cb179334889b273c4b7d102c5f64e4e698d67e78a179e88c9bb115593b7a56388ac5732b99a6f5ae43a521cd94671812da9204dcbc155bd7e04ac09c111d33aa2b01020057c23cb12e6506',X'28b52ffd6052010d0b00a69a4b22406bdb0638cb65bb81964e9db5fffd2eaf10c9df0118221262d108c9caaa2a8a0b023f00420042008da2640eaede2dbbed7a4a4050e7b6dad8db1afea19e0b3267f3c498d3d4d9b1cf2dcb9e00d41d3269fa74b7cd576fcb980f61589b2a7f20a8732e5d66fd116c1f4376947c4f4f34c50511376737e7a1644ce650c1834bbc4c70196a8a5a51924b436621039458dabe06c48a9846879239c936289946c90eae7420668a0aeab72ea98de4528697fcf4b6dac95cb32bd12b151cfbf4970eaa20aece32d9e6e90b0582b9663532ebea893e351602018cc64083a1504fb231df7a4a789e77c36665c6ab67cf43b060d8db4f0f234966e15208b46bf6b9a76769fa04b09a38cc143b13243102d4b9e5c236e23cbd29d24c1d07e2147deee5d254419a6c7ee0a7377350c9e4ea2f110035e5005894856f003ab6590ece1ec8740ca94504d7c5757c56b80127a27a1cf4ee5173358036229251eb0d579002',126,594,0,'[{"by":"prompt","with":"01a1ecb0-9fb8-72dd-a18f-08f89e508a46","distance":0}]',NULL);
INSERT INTO evidence VALUES('01a1ecb0-9fb8-733a-8014-909026fcbb0e',5,'01a1ecb0-9fb8-72dd-a18f-08f89e508a46',1794972360632,'["trigger"]','Fix the failing import in loader.py and run the tests again.',NULL,X'28b52ffd207e4503003207171980b76dc64599dc7bdaf18d7e090f32800c40f9854e36410701cb179334889b273c4b7d102c5f64e4e698d67e78a179e88c9bb115593b7a56388ac5732b99a6f5ae43a521cd94671812da9204dcbc155bd7e04ac09c111d33aa2b01020057c23cb12e6506',NULL,126,0,0,'[]',NULL);
CREATE TABLE providers (
    name text primary key not null,
    base_url text not null,
    format text not null,
    key_ciphertext text,
    key_id text
);
INSERT INTO providers VALUES('openai','https://api.example.com/v1','openai','+HuYjBtuAAy6AYxIdKUDXRO9r4fzFx/jdMXDLswlV/HAFv1/wculhMKlOLIsJuJPTtLZrkGeLM+h+A==','1f92de7cee1fde6f');
CREATE TABLE channels (
    id text primary key not null,
    kind text not null,
    name text not null,
    enabled integer not null,
    disabled_reason text,
    settings_ciphertext text not null,
    key_id text not null,
    created_at bigint not null,
    -- When the first of the alerts that may become one digest was queued.
    window_opened_at bigint
);
INSERT INTO channels VALUES('01a1ecb1-5428-7439-ab65-77aac6cd46a8','webhook','ops',1,NULL,'cl0yYQXsze0wu9UC1Tiew6GEXcFBg3eNlcwJJZHy/BtN9Hi87UClT8al4DGvBJvIyvWmSsw1v5M3gdCSSmvxeb+Ln5bz6u5rruv6poHTSwrrcOPtkLgWl+3POyTrxIvWLzs+xUBF17In8hBerQuUcSiLnSi1MOh8KETjZ/ocr8+LTm+hC86pinaiIVxYNy3I58X6GwG1yHxpGoyB','1f92de7cee1fde6f',1794972406824,NULL);
CREATE TABLE alert_rules (
    id text primary key not null,
    agent_id text not null,
    rule_type text not null,
    -- The rule's own fields, as JSON.
    condition text not null,
    -- Ids of channels, as JSON; none means every channel.
    channels text not null,
    cooldown_minutes bigint not null,
    repeat_minutes bigint,
    notify_recovery integer not null,
    enabled integer not null,
    created_at bigint not null
);
CREATE TABLE alert_states (
    rule_id text not null,
    agent_id text not null,
    firing integer not null,
    since bigint not null,
    told_at bigint not null,
    incident_id text,
    repeats bigint not null default 0,
    primary key (rule_id, agent_id)
) without rowid;
INSERT INTO alert_states VALUES('00000000-0000-0000-0000-000000000000','import-fixer',1,1794972360632,1794972360632,'01a1ecb0-9fb8-733a-8014-909026fcbb0e',0);
CREATE TABLE deliveries (
    id text primary key not null,
    channel_id text not null,
    channel_name text not null,
    channel_kind text not null,
    rule_id text,
    alert_type text not null,
    agent_id text,
    incident_id text,
    repeat bigint not null,
    data text not null,
    state text not null,
    queued_at bigint not null,
    due_at bigint not null,
    -- Attempts since it was queued, by its cause or by a person.
    tries bigint not null default 0,
    finished_at bigint,
    -- Why it was given up.
    reason text,
    -- The window it was queued in, and whether it waits there for others.
    window_opened_at bigint,
    waits integer not null default 0,
    digest_id text
) without rowid;
CREATE TABLE delivery_attempts (
    delivery_id text not null references deliveries (id) on delete cascade,
    position bigint not null,
    timestamp bigint not null,
    took_ms bigint not null,
    delivered integer not null,
    status_code integer,
    answer text not null,
    primary key (delivery_id, position)
) without rowid;
CREATE TABLE agent_minutes (
    minute bigint not null,
    agent_id text not null,
    calls bigint not null,
    errors bigint not null,
    primary key (minute, agent_id)
) without rowid;
INSERT INTO agent_minutes VALUES(29916205,'import-fixer',5,0);
INSERT INTO agent_minutes VALUES(29916205,'researcher',5,0);
INSERT INTO agent_minutes VALUES(29916205,'support-chat',5,0);
INSERT INTO agent_minutes VALUES(29916206,'researcher',4,0);
INSERT INTO agent_minutes VALUES(29916206,'support-chat',4,0);
CREATE TABLE rollups (
    span integer not null,
    start bigint not null,
    agent_id text not null,
    provider text not null,
    model text not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    tokens_cached bigint not null,
    tokens_cache_write bigint not null,
    tokens_reasoning bigint not null,
    cost_nano_usd bigint not null,
    -- Requests whose tokens are known and whose price is not, and those tokens.
    unpriced bigint not null,
    unpriced_in bigint not null,
    unpriced_out bigint not null,
    -- Requests whose tokens and cost are an estimate.
    estimated bigint not null,
    -- A histogram, see store::Sketch.
    latency blob not null,
    primary key (span, start, agent_id, provider, model)
) without rowid;
INSERT INTO rollups VALUES(0,1794970800000,'','','',0,0,1,0,0,0,0,0,0,0,0,0,0,X'');
INSERT INTO rollups VALUES(0,1794970800000,'','anthropic','support-chat',9,0,0,2112,212,523,0,0,0,9,2112,212,0,X'0009');
INSERT INTO rollups VALUES(0,1794970800000,'','openai','import-fixer',5,0,1,155,135,35,0,0,0,5,155,135,0,X'0005');
INSERT INTO rollups VALUES(0,1794970800000,'','openai','researcher',9,0,0,5212,115,1300,0,0,0,9,5212,115,0,X'00020107');
INSERT INTO rollups VALUES(0,1794970800000,'import-fixer','','',0,0,1,0,0,0,0,0,0,0,0,0,0,X'');
INSERT INTO rollups VALUES(0,1794970800000,'import-fixer','openai','import-fixer',5,0,1,155,135,35,0,0,0,5,155,135,0,X'0005');
INSERT INTO rollups VALUES(0,1794970800000,'researcher','openai','researcher',9,0,0,5212,115,1300,0,0,0,9,5212,115,0,X'00020107');
INSERT INTO rollups VALUES(0,1794970800000,'support-chat','anthropic','support-chat',9,0,0,2112,212,523,0,0,0,9,2112,212,0,X'0009');
CREATE TABLE conversations (
    agent_id text not null,
    conversation text not null,
    first_hour bigint not null,
    -- To the hour, so that the index below changes rarely.
    last_hour bigint not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    cost_nano_usd bigint not null,
    unpriced bigint not null, unpriced_nano_usd bigint not null default 0,
    primary key (agent_id, conversation)
) without rowid;
INSERT INTO conversations VALUES('import-fixer','first-78ba7505e2bfa5f1',1794970800000,1794970800000,5,0,1,155,135,0,5,104250000);
INSERT INTO conversations VALUES('researcher','first-5c40391d64c0eeb1',1794970800000,1794970800000,9,0,0,5212,115,0,9,850800000);
INSERT INTO conversations VALUES('support-chat','first-ef013a9cd109b3b7',1794970800000,1794970800000,9,0,0,2112,212,0,9,31720000);
CREATE TABLE exemptions (
    id text primary key not null,
    agent_id text not null,
    kind text not null,
    -- Of a prompt, its hash; of tool calls, their signatures.
    prompt_hash bigint,
    literal_signature bigint,
    adaptive_signature bigint,
    -- The beginning of it, for people.
    text text not null,
    -- The false alarm that it was made for.
    incident_id text,
    created_at bigint not null,
    until bigint not null
);
CREATE TABLE policies (
    agent_id text primary key not null,
    policy text not null
);
INSERT INTO policies VALUES('researcher','{"budget_daily_usd":5.0,"budget_weekly_usd":null,"budget_monthly_usd":null,"budget_conversation_usd":null,"time_zone":"UTC","allowed_hours":null,"rate_limits":[],"model_overrides":[]}');
CREATE TABLE agent_sums (
    hours integer not null,
    start bigint not null,
    agent_id text not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    tokens_cached bigint not null,
    tokens_cache_write bigint not null,
    tokens_reasoning bigint not null,
    cost_nano_usd bigint not null,
    unpriced bigint not null,
    unpriced_in bigint not null,
    unpriced_out bigint not null,
    estimated bigint not null,
    primary key (hours, start, agent_id)
) without rowid;
CREATE TABLE settings (
    name text primary key not null,
    value text not null
);
INSERT INTO settings VALUES('kill_switch','{}');
INSERT INTO settings VALUES('retention','{"event_days":14}');
CREATE TABLE sums_made (
    hours integer primary key not null,
    start bigint not null,
    next text not null
);
INSERT INTO sums_made VALUES(1,1794970800000,'');
INSERT INTO sums_made VALUES(6,1794960000000,'');
INSERT INTO sums_made VALUES(24,1794960000000,'');
INSERT INTO sums_made VALUES(168,1794441600000,'');
CREATE TABLE unscored (
    agent_id text not null,
    hour bigint not null,
    reason text not null,
    calls bigint not null,
    primary key (agent_id, hour, reason)
) without rowid;
CREATE INDEX agents_last_seen on agents (last_seen);
CREATE INDEX events_by_agent on events (agent_id, id);
CREATE INDEX events_in_window on events (agent_id, epoch, number) where fingerprint is not null;
CREATE INDEX events_would_have_stopped on events (agent_id, epoch) where would_have_stopped = 1;
CREATE UNIQUE INDEX incidents_kill on incidents (agent_id, epoch) where state <> 'observed';
CREATE INDEX incidents_by_agent on incidents (agent_id, id);
CREATE UNIQUE INDEX channels_by_name on channels (name);
CREATE INDEX deliveries_queued on deliveries (channel_id, due_at) where state = 'queued';
CREATE INDEX deliveries_in_window on deliveries (channel_id, window_opened_at) where window_opened_at is not null;
CREATE INDEX deliveries_by_agent on deliveries (agent_id, id) where agent_id is not null;
CREATE UNIQUE INDEX deliveries_of_incident on deliveries (incident_id, channel_id, alert_type, repeat)
    where incident_id is not null;
CREATE INDEX conversations_by_hour on conversations (last_hour, agent_id);
CREATE INDEX exemptions_by_agent on exemptions (agent_id, until);
CREATE INDEX exemptions_until on exemptions (until);
CREATE UNIQUE INDEX events_refused on events (agent_id, epoch, block_reason, minute) where minute is not null;
CREATE INDEX events_with_error on events (id, error) where error is not null;
CREATE INDEX unscored_by_hour on unscored (hour);
COMMIT;
