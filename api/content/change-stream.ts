import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import { type ChangesDependencies, type ChangesView, followChanges } from '../../application/content/read-changes.ts';
import { isAppError } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { errorResponse } from '../http/error-response.ts';
import { heartbeat, serverSentEvent, withTicks } from '../http/event-stream.ts';

/** Milliseconds between heartbeats of an idle stream, and between checks that the reader may still read. */
export type ChangeStreamPace = { readonly heartbeatMs: number; readonly recheckMs: number };
export const CHANGE_STREAM_PACE: ChangeStreamPace = { heartbeatMs: 15_000, recheckMs: 3_000 };

export type ChangeStreamOptions = {
  readonly view: ChangesView;
  /** Position after which the stream starts. */
  readonly after: GlobalPosition;
  readonly signal: AbortSignal;
  /**
   * The current view, with the current access rules and names.
   * @throws the refusal when the caller may no longer read
   */
  readonly viewNow: () => Promise<ChangesView>;
  /** As `viewNow`, and checks the credential again. */
  readonly recheck: () => Promise<ChangesView>;
  readonly pace: ChangeStreamPace;
};

/**
 * Changes as server-sent events: `change` for each change, `schema` when the content type has been saved (field names
 * may have changed), and `closed` with the refusal when the reader may no longer read. The id of each event is a
 * position; a client resumes after it.
 */
export async function* changeStream(
  { view, after, signal, viewNow, recheck, pace }: ChangeStreamOptions,
  dependencies: ChangesDependencies,
): AsyncIterable<string> {
  const { id: typeId, tenant } = view.type;
  const pause = stoppablePause(signal);
  let position = after;
  let revision = view.type.revision;
  let schemaEvent = '';
  let lastSent = performance.now();
  let lastChecked = lastSent;

  /** Queues a `schema` event when the content type has a newer revision. */
  function noteRevision(current: ChangesView): ChangesView {
    if (current.type.revision > revision) {
      revision = current.type.revision;
      schemaEvent = serverSentEvent({ event: 'schema', data: JSON.stringify({ schema: current.type.name, revision }) });
    }
    return current;
  }

  /**
   * The view at revision `wanted` or later. An entry may be written under a new revision of the type before this
   * process has loaded that revision; wait until it has.
   */
  async function viewOf(wanted: number): Promise<ChangesView> {
    for (;;) {
      const current = noteRevision(await viewNow());
      if (current.type.revision >= wanted || signal.aborted) return current;
      await pause(50);
    }
  }

  try {
    yield 'retry: 3000\n\n';
    for await (const step of withTicks(
      followChanges({ tenant, typeId, after, viewOf, signal }, dependencies),
      pace.recheckMs,
    )) {
      const now = performance.now();
      if (now - lastChecked >= pace.recheckMs) {
        lastChecked = now;
        noteRevision(await recheck());
      }
      let text = '';
      if (step !== 'tick') {
        position = step.item.next;
        text =
          schemaEvent +
          step.item.changes.map((data) => serverSentEvent({ id: position, event: 'change', data })).join('');
      } else text = schemaEvent;
      schemaEvent = '';
      if (text === '' && now - lastSent >= pace.heartbeatMs) text = heartbeat(position);
      if (text === '') continue;
      lastSent = now;
      yield text;
    }
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    yield serverSentEvent({ event: 'closed', data: JSON.stringify(errorResponse(error).body) });
  }
}
