use role etl;
use warehouse wh;
create or replace temporary table tmp_x as select * from raw.x;
-- expect: SW102
insert into core.x select * from tmp_x;
