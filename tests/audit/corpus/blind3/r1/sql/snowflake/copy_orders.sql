use role loader;
use warehouse load_wh;
create stage if not exists raw.orders_stage url='s3://acme-landing/orders/' storage_integration = s3_int;
create table if not exists raw.orders (v variant, filename string, loaded_at timestamp_ntz default current_timestamp());
copy into raw.orders (v, filename)
from (select $1, metadata$filename from @raw.orders_stage)
file_format = (type = json)
on_error = 'skip_file';