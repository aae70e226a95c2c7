create procedure integration.Load_Sales
as
begin
    set nocount on;
    set xact_abort on;
    begin try
        begin transaction;
-- expect: SW102
insert into prod.FactSales
select * from stg.Sales_staging
commit transaction;
end try
begin catch
    if @@TRANCOUNT > 0 rollback transaction;
    declare @ErrorMessage nvarchar(4000);
    select @ErrorMessage = error_message();
    raiserror(@ErrorMessage, 16, 1);
end catch;
end
