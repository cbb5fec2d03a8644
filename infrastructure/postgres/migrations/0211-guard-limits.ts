import { guardedAppendFunction } from './0210-guarded-append.ts';
import type { Migration } from './migration.ts';

const CONDITIONS = `
          select q.owner - v_from as ordinal, 'g' as letter, '' as detail from (
            select y.owner, y.ending, y.member, y.value, l.type, l.revision, l.data, z.hidden_before,
              sum(case when y.member = '' then 0 else l.size end) over (order by y.owner) as size
            from unnest(p_guarded, v_guard_streams, v_guard_endings, v_guard_members, v_guard_values) y(owner, stream, ending, member, value)
            left join lateral (
              select e.type, e.revision, e.data, pg_column_size(e.data) as size
              from eventstore.events e where e.stream = y.stream order by e.revision desc limit 1
            ) l on true
            left join eventstore.stream_states z on z.stream = y.stream
            where y.owner > v_from and y.owner <= v_from + p_round_appends[r]
          ) q
          where q.type is null or q.type = q.ending or coalesce(q.hidden_before, 0) > q.revision
            or case when q.member = '' then false when q.size > 1048576 then true else q.data ->> q.member is distinct from q.value end
          union all
          select o.ordinal, 'm', o.position::text from (
            select y.owner - v_from as ordinal, eventstore.position_of_text(
              lower(y.word), s[y.owner - v_from], y.tenant, y.category, y.after, v_head,
              greatest(262144, 8388608 / cardinality(p_silent))) as position
            from unnest(p_silent, v_silent_tenants, v_silent_categories, v_silent_texts, p_silent_after) y(owner, tenant, category, word, after)
            where y.owner > v_from and y.owner <= v_from + p_round_appends[r]
          ) o where o.position is not null`;

/**
 * Limits the work of guards by the size of the texts that they read. PostgreSQL compresses a value up to ninety times,
 * so a limit on the stored size would let one append hold the log, and with it the writes of all tenants, for many
 * seconds.
 * - `p_silent`: the search ends after 8 MiB of text, shared by the guards of the call (each has at least 256 KiB).
 * - `p_guarded`: a member is compared while the last events of the streams have at most 1 MiB as stored, counted over
 *   the appends of a round. The guard of an append beyond it fails without a comparison.
 */
export const guardLimits: Migration = {
  id: '0211-guard-limits',
  sql: `
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
comment on function eventstore.position_of_text is 'The last event after a position that contains a text; the head of the log when more events follow than may be searched';
${guardedAppendFunction(CONDITIONS)}
`,
};
