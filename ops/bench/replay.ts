// Fills a log with entry events, or replays it into new read models. Reads its input as JSON and prints JSON. Runs in a
// separate process, to measure its memory.
import { readFileSync } from 'node:fs';
import { v7 as uuidv7 } from 'uuid';
import { toStatements } from '../../application/content/to-statement.ts';
import { diffContentType } from '../../domain/content/schema-diff.ts';
import type { NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { openCommands } from '../../infrastructure/composition/commands/open-commands.ts';
import { openStores } from '../../infrastructure/composition/platform/open-stores.ts';
import { environmentLayer, readSettings } from '../../infrastructure/configuration/read-settings.ts';
import { createLogger } from '../../infrastructure/logging/create-logger.ts';
import { schemaRenderer } from '../../projections/content/content-types/schema-renderer.ts';

export type ReplayInput = { readonly databaseUrl: string; readonly events?: number; readonly to?: string };
export type ReplayResult = { readonly events: number; readonly perSecond: number; readonly peakBytes: number };

const EVENTS_PER_ENTRY = 4;

/**
 * Appends one content type, and entries with four events each: created and changed three times. 400 bytes per event.
 */
async function fill(databaseUrl: string, events: number): Promise<void> {
  const { settings } = readSettings([environmentLayer({ DATABASE_URL: databaseUrl })]);
  const stores = await openStores({ settings, logger: createLogger({ level: 'error', format: 'json' }) });
  const typeId = uuidv7();
  const metadata = {
    tenant: 'default',
    actor: { kind: 'system' as const, id: 'bench' },
    $correlationId: 'bench',
    $causationId: 'bench',
    occurred_at: new Date().toISOString(),
    schema_version: 1,
  };
  const event = (type: string, data: NewEvent['data']): NewEvent => ({ id: uuidv7(), type, data, metadata });
  const field = (name: string, field_type: 'text' | 'integer') => ({ id: uuidv7(), name, field_type });
  const after = { name: 'bench', fields: [field('title', 'text'), field('n', 'integer'), field('body', 'text')] };
  const { operations, canceled, retained } = diffContentType({
    tenant: 'default',
    before: undefined,
    retained: [],
    pending: [],
    after,
    others: [],
  });
  const statements = toStatements({ operations, table: 'bench', newId: uuidv7 }, { renderer: schemaRenderer });
  const saved = event('ContentTypeSaved', { type_id: typeId, definition: after, statements, canceled, retained });
  await stores.eventStore.append(streamName({ category: 'content_type', tenant: 'default', id: typeId }), [saved], {
    expected: 'no_stream',
  });
  const base = { type_id: typeId, schema: 'bench', type_revision: 0 };
  const body = 'x'.repeat(300);
  const entries = Math.ceil(events / EVENTS_PER_ENTRY);
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < entries) {
      const n = next++;
      const facts = [
        event('EntryCreated', { ...base, fields: { title: `entry ${n}`, n, body }, status: 'published' }),
        ...[1, 2, 3].map((round) =>
          event('EntryFieldsChanged', {
            ...base,
            fields: { title: `entry ${n} in round ${round}`, body: body + String(round) },
          }),
        ),
      ];
      await stores.eventStore.append(streamName({ category: 'entry', tenant: 'default', id: uuidv7() }), facts, {
        expected: 'no_stream',
      });
    }
  };
  await Promise.all(Array.from({ length: 64 }, writer));
  await stores.close();
}

async function run({ databaseUrl, to }: Required<Pick<ReplayInput, 'databaseUrl' | 'to'>>): Promise<ReplayResult> {
  const { settings } = readSettings([environmentLayer({ DATABASE_URL: databaseUrl })]);
  const commands = await openCommands({ settings, logger: createLogger({ level: 'error', format: 'json' }) });
  let events = 0;
  let peakBytes = 0;
  const began = performance.now();
  await commands.replay({
    to,
    onProgress: (progress) => {
      ({ events } = progress);
      peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  await commands.close();
  return { events, perSecond: events / seconds, peakBytes };
}

const input = JSON.parse(readFileSync(0, 'utf8')) as ReplayInput;
if (input.events !== undefined) {
  await fill(input.databaseUrl, input.events);
  console.log('{}');
} else {
  console.log(JSON.stringify(await run({ databaseUrl: input.databaseUrl, to: input.to ?? '' })));
}
