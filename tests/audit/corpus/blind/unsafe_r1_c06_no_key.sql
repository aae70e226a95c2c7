-- expect: SW801
{{ config(materialized="incremental") }}

SELECT id, payload, loaded_at
FROM {{ source("kafka", "raw_messages") }}
{% if is_incremental() %}
WHERE loaded_at > (SELECT MAX(loaded_at) - INTERVAL '1 hour' FROM {{ this }})
{% endif %}
