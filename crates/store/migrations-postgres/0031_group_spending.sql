-- What agents that were deleted had spent, by group and hour: the budgets of their groups still count it.
create table group_spending (
    group_name text collate "C" not null,
    start bigint not null,
    cost_nano_usd bigint not null,
    primary key (group_name, start)
);
