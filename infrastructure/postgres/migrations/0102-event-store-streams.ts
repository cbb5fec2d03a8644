import type { Migration } from './migration.ts';

/**
 * Functions that delete streams of the embedded event store and set their retention. Outcomes as in
 * `eventstore.append`: o done, c conflict, x tombstoned.
 */
export const eventStoreStreams: Migration = {
  id: '0102-event-store-streams',
  sql: `
create function eventstore.delete_stream(p_stream text, p_expected bigint, p_tombstone boolean, out r_outcome text, out r_revision bigint)
language plpgsql as $$
declare
  v_state eventstore.stream_states;
  v_deleted boolean;
begin
  -- The same lock as appends take: what is found stays so until commit.
  perform 1 from eventstore.head for update;
  select coalesce(max(e.revision), -1) into r_revision from eventstore.events e where e.stream = p_stream;
  select z.* into v_state from eventstore.stream_states z where z.stream = p_stream;
  v_deleted := r_revision >= 0 and coalesce(v_state.hidden_before, 0) > r_revision;
  r_outcome := case
    when coalesce(v_state.tombstoned, false) then 'x'
    when p_expected = -2 then 'o'
    when p_expected = -4 then case when r_revision >= 0 and not v_deleted then 'o' else 'c' end
    when p_expected = -1 and v_deleted then 'o'
    when p_expected = r_revision then 'o'
    else 'c'
  end;
  if r_outcome = 'o' and (p_tombstone or r_revision >= 0) then
    insert into eventstore.stream_states (stream, tombstoned, hidden_before)
    values (p_stream, p_tombstone, case when p_tombstone then 9223372036854775807 else r_revision + 1 end)
    on conflict (stream) do update set tombstoned = excluded.tombstoned, hidden_before = excluded.hidden_before;
  end if;
end $$;

create function eventstore.set_retention(p_stream text, p_max_count bigint, p_max_age_seconds bigint, p_truncate_before bigint, out r_outcome text)
language plpgsql as $$
begin
  perform 1 from eventstore.head for update;
  insert into eventstore.stream_states as z (stream, max_count, max_age_seconds, truncate_before)
  values (p_stream, p_max_count, p_max_age_seconds, p_truncate_before)
  on conflict (stream) do update
    set max_count = excluded.max_count, max_age_seconds = excluded.max_age_seconds, truncate_before = excluded.truncate_before
    where not z.tombstoned;
  r_outcome := case when found then 'o' else 'x' end;
end $$;
`,
};
