{{ config(materialized='incremental', unique_key=dbt_utils.generate_surrogate_key(['a','b'])) }}
select {{ dbt_utils.generate_surrogate_key(['a','b']) }} as id, a, b from {{ ref('x') }}
