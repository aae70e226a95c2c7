with ranked as (
    select *, row_number() over (partition by user_id order by updated_at desc) as rn  -- expect: SW304 note
    from {{ source('app', 'users') }}
)
select user_id, name, current_timestamp as dbt_loaded_at from ranked where rn = 1