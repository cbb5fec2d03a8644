import type { Migration } from './migration.ts';

/**
 * The function that appends to the embedded event store, with guards: an append is written only when its conditions on
 * other streams hold, and it takes and releases unique values in the same transaction. `head` is locked, so nothing
 * changes between the check and the write.
 *
 * Beyond the parameters of migration 0101, three lists of guards; the first member of each is the number of the append
 * in the call, from 1:
 * - `p_guarded`: the stream exists and does not end with an event of the type. With a member, the data of the last
 *   event has that value there. A member is compared while the last events of the streams have at most 1 MiB as stored,
 *   counted over the appends of a round. The guard of an append beyond it fails without a comparison.
 * - `p_silent`: no event of other streams of the tenant and category after the position contains the text. Case
 *   does not matter. The search ends after 2,000 events of the tenant and category, or after 8 MiB of text, shared by
 *   the guards of the call (each has at least 256 KiB). When more follows, the guard fails with the last position of
 *   the log.
 * - `p_claiming`: a unique value that the append takes or releases. A value taken must have no other owner.
 * The caller puts appends that touch the same stream or value in successive rounds.
 *
 * The limits keep one append from holding the log, and with it the writes of all tenants, for many seconds. PostgreSQL
 * compresses a value up to ninety times, so a search is limited by the size of its text, not by the stored size.
 *
 * Further outcomes: g a stream guard failed, m the text occurs (`m::<position>`), h a value has another owner. A
 * repeated append (d) is not judged again.
 *
 * The function without guards stays for a process of the version before, during a rolling update.
 */
export const guardedAppend: Migration = {
  id: '0210-guarded-append',
  sql: `
-- Number of the events after this one that were appended together with it, all or none.
alter table eventstore.events add column following int not null default 0;

create function eventstore.position_of_text(
  p_text text, p_stream text, p_tenant text, p_category text, p_after bigint, p_head bigint, p_bytes bigint
) returns bigint language plpgsql stable as $$
declare
  v_event record; v_text text; v_events int := 0; v_left bigint := p_bytes; v_found bigint;
begin
  for v_event in
    select e.position, e.stream, e.data from eventstore.events e
    where e.position > p_after and e.tenant = p_tenant and e.category = p_category order by e.position
  loop
    v_text := v_event.data::text;
    v_events := v_events + 1;
    v_left := v_left - octet_length(v_text);
    if v_events > 2000 or v_left < 0 then return p_head; end if;
    if v_event.stream <> p_stream and strpos(lower(v_text), p_text) > 0 then v_found := v_event.position; end if;
  end loop;
  return v_found;
end $$;
comment on function eventstore.position_of_text
  is 'The last event after a position that contains a text; the head when more follow than may be searched';

create function eventstore.append(
  p_atomic boolean, p_round_appends int[], p_round_events int[],
  p_streams text, p_categories text, p_expected bigint[], p_counts int[],
  p_owners int[], p_ids uuid[], p_types text, p_tenants text, p_correlations text, p_data text, p_metadata text,
  p_guarded int[], p_guard_streams text, p_guard_endings text, p_guard_members text, p_guard_values text,
  p_silent int[], p_silent_tenants text, p_silent_categories text, p_silent_texts text, p_silent_after bigint[],
  p_claiming int[], p_claim_taken boolean[], p_claim_tenants text, p_claim_scopes text, p_claim_digests bytea[],
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
  v_guard_streams text[] := string_to_array(p_guard_streams, E'\\x1e');
  v_guard_endings text[] := string_to_array(p_guard_endings, E'\\x1e');
  v_guard_members text[] := string_to_array(p_guard_members, E'\\x1e');
  v_guard_values text[] := string_to_array(p_guard_values, E'\\x1e');
  v_silent_tenants text[] := string_to_array(p_silent_tenants, E'\\x1e');
  v_silent_categories text[] := string_to_array(p_silent_categories, E'\\x1e');
  v_silent_texts text[] := string_to_array(p_silent_texts, E'\\x1e');
  v_claim_tenants text[] := string_to_array(p_claim_tenants, E'\\x1e');
  v_claim_scopes text[] := string_to_array(p_claim_scopes, E'\\x1e');
  v_is_guarded boolean := cardinality(p_guarded) + cardinality(p_silent) + cardinality(p_claiming) > 0;
  v_refused int[]; v_letters text[]; v_details text[]; v_written int[]; v_from int := 0; v_taken bigint;
  v_rounds int := cardinality(p_round_appends);
  v_a int := 0; v_b int; v_e int := 0; v_f int;
  s text[]; g text[]; x bigint[]; c int[]; w int[]; d uuid[]; t text[]; n text[]; k text[]; j text[]; m text[];
  v_head bigint; v_now timestamptz; v_added bigint; v_outcomes text;
begin
  select h.position, greatest(date_trunc('milliseconds', clock_timestamp()), h.recorded_at) into r_before, v_now
    from eventstore.head h for update;
  v_head := r_before;
  for r in 1 .. v_rounds loop
    v_from := v_a;
    if v_rounds = 1 then
      s := v_streams; g := v_categories; x := p_expected; c := p_counts;
      w := p_owners; d := p_ids; t := v_types; n := v_tenants; k := v_correlations; j := v_data; m := v_metadata;
    else
      v_b := v_a + p_round_appends[r]; v_f := v_e + p_round_events[r];
      s := v_streams[v_a + 1 : v_b]; g := v_categories[v_a + 1 : v_b];
      x := p_expected[v_a + 1 : v_b]; c := p_counts[v_a + 1 : v_b];
      w := p_owners[v_e + 1 : v_f]; d := p_ids[v_e + 1 : v_f];
      t := v_types[v_e + 1 : v_f]; n := v_tenants[v_e + 1 : v_f];
      k := v_correlations[v_e + 1 : v_f]; j := v_data[v_e + 1 : v_f]; m := v_metadata[v_e + 1 : v_f];
      v_a := v_b; v_e := v_f;
    end if;
    if v_is_guarded then
      select array_agg(f.ordinal), array_agg(f.letter), array_agg(f.detail) into v_refused, v_letters, v_details from (
        select distinct on (a.ordinal) a.ordinal, a.letter, a.detail from (
          select q.owner - v_from as ordinal, 'g' as letter, '' as detail from (
            select y.owner, y.ending, y.member, y.value, l.type, l.revision, l.data, z.hidden_before,
              sum(case when y.member = '' then 0 else l.size end) over (order by y.owner) as size
            from unnest(p_guarded, v_guard_streams, v_guard_endings, v_guard_members, v_guard_values)
              y(owner, stream, ending, member, value)
            left join lateral (
              select e.type, e.revision, e.data, pg_column_size(e.data) as size
              from eventstore.events e where e.stream = y.stream order by e.revision desc limit 1
            ) l on true
            left join eventstore.stream_states z on z.stream = y.stream
            where y.owner > v_from and y.owner <= v_from + p_round_appends[r]
          ) q
          where q.type is null or q.type = q.ending or coalesce(q.hidden_before, 0) > q.revision
            or case when q.member = '' then false when q.size > 1048576 then true
              else q.data ->> q.member is distinct from q.value end
          union all
          select o.ordinal, 'm', o.position::text from (
            select y.owner - v_from as ordinal, eventstore.position_of_text(
              lower(y.word), s[y.owner - v_from], y.tenant, y.category, y.after, v_head,
              greatest(262144, 8388608 / cardinality(p_silent))) as position
            from unnest(p_silent, v_silent_tenants, v_silent_categories, v_silent_texts, p_silent_after)
              y(owner, tenant, category, word, after)
            where y.owner > v_from and y.owner <= v_from + p_round_appends[r]
          ) o where o.position is not null
          union all
          select y.owner - v_from, 'h', ''
          from unnest(p_claiming, p_claim_taken, v_claim_tenants, v_claim_scopes, p_claim_digests)
            y(owner, taken, tenant, scope, digest)
          join operational.claims o on o.tenant_id = y.tenant and o.scope = y.scope and o.value_hmac = y.digest
          where y.owner > v_from and y.owner <= v_from + p_round_appends[r] and y.taken
            and o.owner <> s[y.owner - v_from]
        ) a order by a.ordinal, a.letter
      ) f;
    end if;
    with incoming as materialized (
      select a.ordinal, a.stream, a.category, a.expected, a.count,
        sum(a.count) over (order by a.ordinal) - a.count as first
      from unnest(s, g, x, c) with ordinality a(stream, category, expected, count, ordinal)
    ), found as materialized (
      select i.*, coalesce(h.revision, -1) as revision, coalesce(z.tombstoned, false) as tombstoned,
        coalesce(z.hidden_before, 0) > coalesce(h.revision, -1) and h.revision is not null as deleted
      from incoming i
      left join lateral (
        select e.revision from eventstore.events e where e.stream = i.stream order by e.revision desc limit 1
      ) h on true
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
        select count(distinct u.ordinal) as known, coalesce(bool_or(u.ordinal = 1), false) as first_known,
          max(e.revision) as revision, max(e.position) as position
        from unnest(d[f.first + 1 : f.first + f.count]) with ordinality u(id, ordinal)
        join eventstore.events e on e.id = u.id and e.stream = f.stream
          and (f.expected < -1 or e.revision = f.expected + u.ordinal)
        where f.expected < -1 or f.expected < f.revision
      ) b on true
    ), settled as materialized (
      select q.ordinal, q.stream, q.category, q.count, q.first, q.revision, q.known_revision, q.known_position,
        q.detail, case
          when p_atomic and q.outcome = 'o' and not bool_and(q.outcome = 'o') over () then 'w' else q.outcome
        end as outcome
      from (
        select i.ordinal, i.stream, i.category, i.count, i.first, i.revision, i.known_revision, i.known_position,
          y.detail, case when i.outcome = 'o' then coalesce(y.letter, 'o') else i.outcome end as outcome
        from judged i left join unnest(v_refused, v_letters, v_details) y(ordinal, letter, detail)
          on y.ordinal = i.ordinal
      ) q
    ), placed as materialized (
      select q.*,
        v_head + sum(case q.outcome when 'o' then q.count else 0 end) over (order by q.ordinal) - q.count as before,
        v_head + sum(case q.outcome when 'o' then q.count else 0 end) over () as last
      from settled q
    ), written as (
      insert into eventstore.events (position, revision, recorded_at, id, stream, type, category, tenant,
        correlation_id, data, metadata, following)
      select p.before + v.ordinal - p.first, p.revision + v.ordinal - p.first, v_now, v.id, p.stream, v.type,
        p.category, coalesce(v.tenant, ''), coalesce(v.correlation, ''), v.data::json, v.metadata::json,
        case when p_atomic then p.last else p.before + p.count end - (p.before + v.ordinal - p.first)
      from unnest(w, d, t, n, k, j, m) with ordinality v(owner, id, type, tenant, correlation, data, metadata, ordinal)
      join placed p on p.ordinal = v.owner
      where p.outcome = 'o'
    )
    select string_agg(p.outcome || ':' || case p.outcome
        when 'o' then (p.revision + p.count) || ':' || (p.before + p.count)
        when 'd' then p.known_revision || ':' || p.known_position
        when 'm' then ':' || p.detail
        else p.revision || ':' end, ',' order by p.ordinal),
      coalesce(sum(p.count) filter (where p.outcome = 'o'), 0),
      array_agg(p.ordinal) filter (where p.outcome = 'o')
    into v_outcomes, v_added, v_written from placed p;
    if v_added > 0 and cardinality(p_claiming) > 0 then
      delete from operational.claims o
        using unnest(p_claiming, p_claim_taken, v_claim_tenants, v_claim_scopes, p_claim_digests)
          y(owner, taken, tenant, scope, digest)
      where not y.taken and y.owner - v_from = any(v_written)
        and o.tenant_id = y.tenant and o.scope = y.scope and o.value_hmac = y.digest and o.owner = s[y.owner - v_from];
      with taken as materialized (
        select y.tenant, y.scope, y.digest, s[y.owner - v_from] as stream
        from unnest(p_claiming, p_claim_taken, v_claim_tenants, v_claim_scopes, p_claim_digests)
          y(owner, taken, tenant, scope, digest)
        where y.taken and y.owner - v_from = any(v_written)
      ), held as (
        insert into operational.claims as o (tenant_id, scope, value_hmac, owner, state)
        select tenant, scope, digest, stream, 'confirmed' from taken order by tenant, scope, digest
        on conflict (tenant_id, scope, value_hmac) do update
          set state = 'confirmed', unsettled_since = null, command = '', sole = false where o.owner = excluded.owner
        returning 1
      )
      select (select count(*) from taken) - (select count(*) from held) into v_taken;
      if v_taken > 0 then
        raise exception 'another transaction claimed a unique value at the same time'
          using errcode = 'serialization_failure';
      end if;
    end if;
    v_head := v_head + v_added;
    r_outcomes := concat_ws(',', r_outcomes, v_outcomes);
  end loop;
  if v_head > r_before then
    update eventstore.head set position = v_head, recorded_at = v_now;
    perform pg_notify('eventstore_appended', v_head || ' ' || pg_backend_pid());
  end if;
  r_recorded_at := extract(epoch from v_now) * 1000;
end $$;

create or replace function eventstore.append(
  p_atomic boolean, p_round_appends int[], p_round_events int[],
  p_streams text, p_categories text, p_expected bigint[], p_counts int[],
  p_owners int[], p_ids uuid[], p_types text, p_tenants text, p_correlations text, p_data text, p_metadata text,
  out r_before bigint, out r_recorded_at bigint, out r_outcomes text
) language sql as $$
  select a.r_before, a.r_recorded_at, a.r_outcomes
  from eventstore.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    '{}', '', '', '', '', '{}', '', '', '', '{}', '{}', '{}', '', '', '{}') a
$$;
`,
};
