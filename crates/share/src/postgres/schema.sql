-- What replicas share. Nothing here has to survive a crash: whoever finds it empty fills it again.
create unlogged table if not exists share_agents (
    agent text primary key,
    epoch bigint not null,
    -- The position of the newest record, and the one before the oldest.
    seq bigint not null,
    floor bigint not null,
    trimmed boolean not null default false,
    -- The number of the newest call.
    number bigint not null,
    -- The incident; all zeros if a person did it.
    killed bytea,
    killed_at bigint,
    settings bigint not null default 0,
    changed_at bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create index if not exists share_agents_changed on share_agents (changed_at);

create unlogged table if not exists share_log (
    agent text not null,
    seq bigint not null,
    number bigint not null,
    at bigint not null,
    record bytea not null,
    primary key (agent, seq)
);

create unlogged table if not exists share_tabs (
    scope text primary key,
    spent bigint not null,
    reserved bigint not null,
    touched_at bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

create unlogged table if not exists share_ticks (
    scope text not null,
    second bigint not null,
    amount bigint not null,
    primary key (scope, second)
) with (fillfactor = 50);

create unlogged table if not exists share_tickets (
    agent text not null,
    call bytea not null,
    epoch bigint not null,
    replica bytea not null,
    second bigint not null,
    until bigint not null,
    scopes text[] not null,
    kinds smallint[] not null,
    amounts bigint[] not null,
    primary key (agent, call)
);
create index if not exists share_tickets_until on share_tickets (until);
create index if not exists share_tickets_replica on share_tickets (replica);

create unlogged table if not exists share_replicas (replica bytea primary key, beat bigint not null);

-- One row, once someone may not call any more.
create unlogged table if not exists share_access (id boolean primary key, version bigint not null);

create or replace function share_now_v1() returns bigint language sql volatile as
$$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- Seconds until `amount` more stays within `most`; 0: it does so now.
create or replace function share_wait_v1(p_scope text, p_second bigint, p_amount bigint, p_most bigint) returns bigint
language plpgsql as $$
declare
    v_room bigint := greatest(p_most - p_amount, 0);
    v_total bigint;
begin
    for v_wait in 0 .. 59 loop
        select coalesce(sum(amount), 0) into v_total from share_ticks
            where scope = p_scope and second > p_second - 60 + v_wait and second <= p_second;
        if v_total <= v_room then return v_wait; end if;
    end loop;
    return 60;
end $$;

create or replace function share_admit_v1(
    p_agent text, p_epoch bigint, p_seen bigint, p_call bytea, p_replica bytea, p_record bytea, p_life bigint,
    p_scopes text[], p_kinds smallint[], p_limits bigint[], p_amounts bigint[], p_known bigint[],
    out o_status text, out o_epoch bigint, out o_killed bytea, out o_killed_at bigint, out o_settings bigint,
    out o_charge bigint, out o_wait bigint, out o_spent bigint[], out o_reserved bigint[],
    out o_floor bigint, out o_trimmed boolean,
    out o_seqs bigint[], out o_numbers bigint[], out o_ats bigint[], out o_records bytea[]
) language plpgsql as $$
declare
    l share_agents;
    v_now bigint;
    v_second bigint;
    v_wait bigint;
    v_spent bigint;
    v_reserved bigint;
    v_over boolean := false;
    v_charges int := coalesce(array_length(p_scopes, 1), 0);
begin
    -- The lock orders the agent's calls. Scopes come sorted, so that no two calls wait for each other.
    select * into l from share_agents where agent = p_agent for update;
    if not found then o_status := 'unknown'; return; end if;
    o_epoch := l.epoch; o_killed := l.killed; o_killed_at := l.killed_at; o_settings := l.settings;
    if l.epoch <> p_epoch then o_status := 'epoch'; return; end if;
    if l.killed is not null then o_status := 'killed'; return; end if;
    v_now := share_now_v1();
    v_second := v_now / 1000;
    o_spent := array_fill(0::bigint, array[v_charges]);
    o_reserved := o_spent;
    if not exists (select from share_tickets where agent = p_agent and call = p_call and epoch = p_epoch) then
        o_wait := 0;
        for i in 1 .. v_charges loop
            -- Also for a rate: the row is what calls of other agents in the same scope wait for.
            insert into share_tabs as tab (scope, spent, reserved, touched_at) values (p_scopes[i], p_known[i], 0, v_now)
                on conflict (scope) do update
                set spent = greatest(tab.spent, excluded.spent), touched_at = excluded.touched_at
                returning spent, reserved into v_spent, v_reserved;
            if p_kinds[i] = 0 then
                v_wait := share_wait_v1(p_scopes[i], v_second, p_amounts[i], p_limits[i]);
                if v_wait > o_wait then o_wait := v_wait; o_charge := i - 1; end if;
            else
                o_spent[i] := v_spent;
                o_reserved[i] := v_reserved;
                v_over := v_over or v_spent + v_reserved >= p_limits[i];
            end if;
        end loop;
        if o_wait > 0 then o_status := 'rate'; return; end if;
        if v_over then o_status := 'budget'; return; end if;
        for i in 1 .. v_charges loop
            if p_kinds[i] = 0 then
                insert into share_ticks as tick values (p_scopes[i], v_second, p_amounts[i])
                    on conflict (scope, second) do update set amount = tick.amount + excluded.amount;
            else
                update share_tabs set reserved = reserved + p_amounts[i] where scope = p_scopes[i];
            end if;
        end loop;
        insert into share_tickets values
            (p_agent, p_call, p_epoch, p_replica, v_second, v_now + p_life, p_scopes, p_kinds, p_amounts);
        if p_record is not null then
            perform share_write_v1(p_agent, v_now, array[p_record], array[0]);
        end if;
        select * into l from share_agents where agent = p_agent;
    end if;
    o_status := 'granted';
    o_floor := l.floor;
    o_trimmed := l.trimmed;
    select array_agg(seq order by seq), array_agg(number order by seq), array_agg(at order by seq),
           array_agg(record order by seq)
        into o_seqs, o_numbers, o_ats, o_records
        from share_log where agent = p_agent and seq > case when p_seen > l.seq then 0 else p_seen end;
end $$;

-- Adds records to the log of an agent that the caller has locked. A number of 0 is the next one, null is none.
create or replace function share_write_v1(p_agent text, p_now bigint, p_records bytea[], p_numbers bigint[]) returns void
language plpgsql as $$
declare
    l share_agents;
    v_number bigint;
begin
    select * into l from share_agents where agent = p_agent;
    for i in 1 .. coalesce(array_length(p_records, 1), 0) loop
        l.seq := l.seq + 1;
        v_number := p_numbers[i];
        if v_number = 0 then
            v_number := case when l.number = 0 then p_now else l.number + 1 end;
        end if;
        l.number := greatest(l.number, coalesce(v_number, 0));
        insert into share_log values (p_agent, l.seq, coalesce(v_number, 0), p_now, p_records[i]);
    end loop;
    if l.seq - l.floor > 1088 then
        delete from share_log where agent = p_agent and seq <= l.seq - 1024;
        l.floor := l.seq - 1024;
        l.trimmed := true;
    end if;
    update share_agents set seq = l.seq, number = l.number, floor = l.floor, trimmed = l.trimmed where agent = p_agent;
end $$;

create or replace function share_kill_v1(
    p_agent text, p_epoch bigint, p_killed bytea, p_at bigint,
    out o_status text, out o_epoch bigint, out o_killed bytea, out o_killed_at bigint
) language plpgsql as $$
begin
    update share_agents set killed = p_killed, killed_at = p_at, changed_at = share_now_v1()
        where agent = p_agent and epoch = p_epoch and killed is null;
    if found then
        perform pg_notify('agentgazer_share', '');
        o_status := 'won';
        return;
    end if;
    select epoch, killed, killed_at into o_epoch, o_killed, o_killed_at from share_agents where agent = p_agent;
    o_status := case when not found then 'unknown' when o_epoch <> p_epoch then 'epoch' else 'lost' end;
end $$;

create or replace function share_open_v1(
    p_agent text, p_epoch bigint, p_killed bytea, p_killed_at bigint, p_number bigint,
    p_records bytea[], p_numbers bigint[]
) returns boolean language plpgsql as $$
declare
    v_now bigint := share_now_v1();
begin
    -- Positions begin with the time, so that those of a log that was lost are never given out again.
    insert into share_agents as known (agent, epoch, seq, floor, number, killed, killed_at, changed_at)
        values (p_agent, p_epoch, v_now * 1024, v_now * 1024, p_number, p_killed, p_killed_at, v_now)
        on conflict (agent) do update set epoch = excluded.epoch, floor = known.seq, trimmed = false,
            number = excluded.number, killed = excluded.killed, killed_at = excluded.killed_at,
            changed_at = excluded.changed_at
            where known.epoch < excluded.epoch;
    if not found then return false; end if;
    delete from share_log where agent = p_agent;
    perform share_write_v1(p_agent, v_now, p_records, p_numbers);
    perform pg_notify('agentgazer_share', '');
    return true;
end $$;

-- Replaces the reservation of a call by what it took. Without a ticket, what it took is added if scopes are given: its
-- replica admitted it alone, or the ticket was lost.
create or replace function share_settle_v2(
    p_agent text, p_epoch bigint, p_call bytea, p_record bytea, p_actual bigint[], p_replica bytea, p_life bigint,
    p_scopes text[], p_kinds smallint[], p_known bigint[],
    out o_killed bytea, out o_killed_at bigint
) language plpgsql as $$
declare
    l share_agents;
    t share_tickets;
    v_now bigint := share_now_v1();
    v_charges int := coalesce(array_length(p_scopes, 1), 0);
begin
    -- In the order of an admission: agent, then scopes.
    select * into l from share_agents where agent = p_agent for update;
    -- A ticket of second 0 says that the call was settled without one.
    delete from share_tickets where agent = p_agent and call = p_call and epoch = p_epoch
        and (second > 0 or v_charges = 0) returning * into t;
    if found then
        for i in 1 .. coalesce(array_length(t.scopes, 1), 0) loop
            if t.kinds[i] = 0 then
                update share_ticks set amount = greatest(amount + coalesce(p_actual[i], 0) - t.amounts[i], 0)
                    where scope = t.scopes[i] and second = t.second;
            else
                update share_tabs set reserved = greatest(reserved - t.amounts[i], 0),
                    spent = spent + coalesce(p_actual[i], 0) where scope = t.scopes[i];
            end if;
        end loop;
        if t.second > 0 and l.epoch = p_epoch and p_record is not null then
            perform share_write_v1(p_agent, v_now, array[p_record], array[null::bigint]);
        end if;
    elsif v_charges > 0 then
        insert into share_tickets values (p_agent, p_call, p_epoch, p_replica, 0, v_now + p_life, '{}', '{}', '{}')
            on conflict do nothing;
        -- Otherwise this is a repetition.
        if found then
            for i in 1 .. v_charges loop
                if p_kinds[i] = 0 then
                    insert into share_ticks as tick values (p_scopes[i], v_now / 1000, p_actual[i])
                        on conflict (scope, second) do update set amount = tick.amount + excluded.amount;
                else
                    insert into share_tabs as tab (scope, spent, reserved, touched_at)
                        values (p_scopes[i], p_known[i] + p_actual[i], 0, v_now)
                        on conflict (scope) do update
                        set spent = greatest(tab.spent, p_known[i]) + p_actual[i], touched_at = v_now;
                end if;
            end loop;
        end if;
    end if;
    if l.epoch = p_epoch then o_killed := l.killed; o_killed_at := l.killed_at; end if;
end $$;

-- Of replicas before share_settle_v2.
create or replace function share_settle_v1(
    p_agent text, p_epoch bigint, p_call bytea, p_record bytea, p_actual bigint[],
    out o_killed bytea, out o_killed_at bigint
) language sql as $$
    select * from share_settle_v2(p_agent, p_epoch, p_call, p_record, p_actual, '', 0, '{}', '{}', '{}')
$$;
