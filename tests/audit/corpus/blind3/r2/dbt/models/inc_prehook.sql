{{ config(
    materialized='incremental',
    incremental_strategy='append',
    pre_hook="{% if is_incremental() %} delete from {{ this }} where day = '{{ var('day') }}' {% endif %}"
) }}
select * from {{ ref('stg_hits') }}
where day = '{{ var("day") }}'