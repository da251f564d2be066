-- A row takes the next number: none is replaced (`insert or replace` deletes without the trigger for that), none comes before the first.
create trigger audit_is_never_replaced before insert on audit
when new.number < 1 or exists (select 1 from audit where number = new.number)
begin
    select raise(abort, 'the audit log is only added to');
end;
