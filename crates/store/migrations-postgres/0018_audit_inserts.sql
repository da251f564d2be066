-- Numbers begin with 1: no row comes before the first.
alter table audit add constraint audit_begins_with_1 check (number >= 1);
