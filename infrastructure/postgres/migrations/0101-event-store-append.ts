import type { Migration } from './migration.ts';

/**
 * The function that appends to the embedded event store: one call for several appends. Texts are joined by U+001E,
 * which occurs neither in JSON text nor in validated names.
 *
 * Appends to one stream are distributed over successive rounds, so that a later append sees an earlier one. Within a
 * round each stream occurs once, and all appends are checked set-wise; each statement uses a snapshot taken after
 * `head` was locked. Expected revisions are revisions, or -1 no_stream, -2 any, -4 stream_exists. Outcomes, in the
 * order of the appends, are `<letter>:<revision>:<position>`: o written, d duplicate (first result), c conflict (actual
 * revision), x tombstoned, i only some of the ids are in the stream, w withheld (atomic group).
 */
export const eventStoreAppend: Migration = {
  id: '0101-event-store-append',
  sql: `
create function eventstore.append(
  p_atomic boolean, p_round_appends int[], p_round_events int[],
  p_streams text, p_categories text, p_expected bigint[], p_counts int[],
  p_owners int[], p_ids uuid[], p_types text, p_tenants text, p_correlations text, p_data text, p_metadata text,
  out r_before bigint, out r_recorded_at bigint, out r_outcomes text
) language plpgsql as $$
declare
  v_streams text[] := string_to_array(p_streams, E'\\x1e');
  v_categories text[] := string_to_array(p_categories, E'\\x1e');
  v_types text[] := string_to_array(p_types, E'\\x1e');
  v_tenants text[] := string_to_array(p_tenants, E'\\x1e');
  v_correlations text[] := string_to_array(p_correlations, E'\\x1e');
  v_data text[] := string_to_array(p_data, E'\\x1e');
  v_metadata text[] := string_to_array(p_metadata, E'\\x1e');
  v_rounds int := cardinality(p_round_appends);
  v_a int := 0; v_b int; v_e int := 0; v_f int;
  s text[]; g text[]; x bigint[]; c int[]; w int[]; d uuid[]; t text[]; n text[]; k text[]; j text[]; m text[];
  v_head bigint; v_now timestamptz; v_added bigint; v_outcomes text;
begin
  select h.position, greatest(date_trunc('milliseconds', clock_timestamp()), h.recorded_at) into r_before, v_now from eventstore.head h for update;
  v_head := r_before;
  for r in 1 .. v_rounds loop
    if v_rounds = 1 then
      s := v_streams; g := v_categories; x := p_expected; c := p_counts;
      w := p_owners; d := p_ids; t := v_types; n := v_tenants; k := v_correlations; j := v_data; m := v_metadata;
    else
      v_b := v_a + p_round_appends[r]; v_f := v_e + p_round_events[r];
      s := v_streams[v_a + 1 : v_b]; g := v_categories[v_a + 1 : v_b]; x := p_expected[v_a + 1 : v_b]; c := p_counts[v_a + 1 : v_b];
      w := p_owners[v_e + 1 : v_f]; d := p_ids[v_e + 1 : v_f]; t := v_types[v_e + 1 : v_f]; n := v_tenants[v_e + 1 : v_f];
      k := v_correlations[v_e + 1 : v_f]; j := v_data[v_e + 1 : v_f]; m := v_metadata[v_e + 1 : v_f];
      v_a := v_b; v_e := v_f;
    end if;
    with incoming as materialized (
      select a.ordinal, a.stream, a.category, a.expected, a.count, sum(a.count) over (order by a.ordinal) - a.count as first
      from unnest(s, g, x, c) with ordinality a(stream, category, expected, count, ordinal)
    ), found as materialized (
      select i.*, coalesce(h.revision, -1) as revision, coalesce(z.tombstoned, false) as tombstoned, coalesce(z.hidden_before, 0) > coalesce(h.revision, -1) and h.revision is not null as deleted
      from incoming i
      left join lateral (select e.revision from eventstore.events e where e.stream = i.stream order by e.revision desc limit 1) h on true
      left join eventstore.stream_states z on z.stream = i.stream
    ), judged as materialized (
      select f.*, b.revision as known_revision, b.position as known_position, case
        when f.tombstoned then 'x'
        when f.expected = -4 and (f.revision < 0 or f.deleted) then 'c'
        when f.expected < -1 then case when not b.first_known then 'o' when b.known = f.count then 'd' else 'i' end
        when f.expected = f.revision then 'o'
        when f.expected > f.revision then 'c'
        when b.known = f.count then 'd'
        when b.first_known then 'i'
        when f.expected = -1 and f.deleted then 'o'
        else 'c'
      end as outcome
      from found f
      left join lateral (
        select count(distinct u.ordinal) as known, coalesce(bool_or(u.ordinal = 1), false) as first_known, max(e.revision) as revision, max(e.position) as position
        from unnest(d[f.first + 1 : f.first + f.count]) with ordinality u(id, ordinal)
        join eventstore.events e on e.id = u.id and e.stream = f.stream and (f.expected < -1 or e.revision = f.expected + u.ordinal)
        where f.expected < -1 or f.expected < f.revision
      ) b on true
    ), settled as materialized (
      select q.ordinal, q.stream, q.category, q.count, q.first, q.revision, q.known_revision, q.known_position,
        case when p_atomic and q.outcome = 'o' and not bool_and(q.outcome = 'o') over () then 'w' else q.outcome end as outcome
      from judged q
    ), placed as materialized (
      select q.*, v_head + sum(case q.outcome when 'o' then q.count else 0 end) over (order by q.ordinal) - q.count as before from settled q
    ), written as (
      insert into eventstore.events (position, revision, recorded_at, id, stream, type, category, tenant, correlation_id, data, metadata)
      select p.before + v.ordinal - p.first, p.revision + v.ordinal - p.first, v_now, v.id, p.stream, v.type, p.category,
        coalesce(v.tenant, ''), coalesce(v.correlation, ''), v.data::json, v.metadata::json
      from unnest(w, d, t, n, k, j, m) with ordinality v(owner, id, type, tenant, correlation, data, metadata, ordinal)
      join placed p on p.ordinal = v.owner
      where p.outcome = 'o'
    )
    select string_agg(p.outcome || ':' || case p.outcome
        when 'o' then (p.revision + p.count) || ':' || (p.before + p.count)
        when 'd' then p.known_revision || ':' || p.known_position
        else p.revision || ':' end, ',' order by p.ordinal),
      coalesce(sum(p.count) filter (where p.outcome = 'o'), 0)
    into v_outcomes, v_added from placed p;
    v_head := v_head + v_added;
    r_outcomes := concat_ws(',', r_outcomes, v_outcomes);
  end loop;
  if v_head > r_before then
    update eventstore.head set position = v_head, recorded_at = v_now;
    perform pg_notify('eventstore_appended', v_head || ' ' || pg_backend_pid());
  end if;
  r_recorded_at := extract(epoch from v_now) * 1000;
end $$;
`,
};
