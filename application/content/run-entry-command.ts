import type { CommandContext } from '../../domain/context.ts';
import { streamName } from '../../domain/stream.ts';
import {
  type EntryCommandInput,
  type EntryDependencies,
  type EntryOutcome,
  appendEntryCommand,
} from './append-entry-command.ts';
import { compensateEntry } from './compensate-entry.ts';
import { findBrokenCondition } from './find-broken-condition.ts';

export type { EntryCommandInput, EntryDecision, EntryDependencies, EntryOutcome } from './append-entry-command.ts';

/**
 * Decides on one entry and appends; see `appendEntryCommand`. A store without guards may have stored the events after
 * a condition ceased to hold. Then another event takes them back, and the write is refused.
 * @throws as `appendEntryCommand`
 */
export async function runEntryCommand(
  input: EntryCommandInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const { conditions, ...outcome } = await appendEntryCommand(input, context, dependencies);
  const { position, isEarlier } = outcome;
  if (dependencies.eventStore.capabilities.guards || position === undefined || isEarlier || !conditions) return outcome;
  const { type, id } = input;
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const broken = await findBrokenCondition({ type, stream, position, conditions }, dependencies);
  if (!broken) return outcome;
  await compensateEntry(
    { type, id, revision: outcome.entry.version - 1, conditions, reason: broken.code },
    context,
    dependencies,
  );
  throw broken;
}
