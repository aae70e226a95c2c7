select id as customer_id, name, current_timestamp as viewed_at from {{ source('crm', 'customers') }}
