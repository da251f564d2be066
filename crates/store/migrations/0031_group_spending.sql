-- What agents that were deleted had spent, by group and hour: the budgets of their groups still count it.
create table group_spending (
    group_name text not null,
    start integer not null,
    cost_nano_usd integer not null,
    primary key (group_name, start)
) without rowid;
