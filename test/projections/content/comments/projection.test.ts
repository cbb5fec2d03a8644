import { expect } from 'chai';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../../domain/event.ts';
import { commentsProjection } from '../../../../projections/content/comments/projection.ts';
import { useDatabase } from '../../../support/database.ts';
import { recordedEvent } from '../../../support/recorded-events.ts';

const target = { schema: '"rm_comments"' };
const idOf = (number: number) => `01890000-0000-7000-8000-00000000000${number}`;
const ENTRY = '01890000-0000-7000-8000-0000000000ee';

describe('the read model of comments', () => {
  const database = useDatabase();
  const fresh = () =>
    database.db().transaction(async (tx) => {
      await tx.query('drop schema if exists rm_comments cascade');
      await tx.query('create schema rm_comments');
      await commentsProjection.create(tx, target);
    });
  const apply = (events: readonly RecordedEvent[]) =>
    database.db().transaction((tx) => commentsProjection.apply(tx, target, events));

  it('is the same for any batch size, and no reply names a deleted comment as its parent', async () => {
    const step = fc.record({ id: fc.nat(5), parent: fc.option(fc.nat(5), { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, size) => {
          const events = logOf(steps);
          const rows = [];
          for (const batch of [1, size, events.length]) {
            await fresh();
            for (let at = 0; at < events.length; at += batch) await apply(events.slice(at, at + batch));
            rows.push(
              await database
                .db()
                .query<{ id: string; parent: string | null }>('select c.* from rm_comments.comments c order by id'),
            );
          }
          expect(rows[1]).to.deep.equal(rows[0]);
          expect(rows[2]).to.deep.equal(rows[0]);
          const there = new Set(rows[0]?.map(({ id }) => id));
          for (const { parent } of rows[0] ?? []) if (parent !== null) expect(there.has(parent)).to.equal(true);
        },
      ),
      { numRuns: 40 },
    );
  }).timeout(60_000);

  /** Each step adds a new comment and deletes an existing one; no comment is added twice. */
  function logOf(
    steps: readonly { readonly id: number; readonly parent: number | undefined }[],
  ): readonly RecordedEvent[] {
    const state = new Map<number, 'there' | 'gone'>();
    return steps.flatMap(({ id, parent }, index) => {
      const known = state.get(id);
      if (known === 'gone') return [];
      state.set(id, known === 'there' ? 'gone' : 'there');
      const stream = `comment-acme.${idOf(id)}`;
      const number = index + 1;
      if (known === 'there')
        return [recordedEvent({ number, stream, type: 'CommentDeleted', revision: 1, data: { entry_id: ENTRY } })];
      // A reply to a comment that may already be deleted, as in a race.
      const answers = parent !== undefined && parent !== id && state.has(parent) ? { parent: idOf(parent) } : {};
      return [
        recordedEvent({
          number,
          stream,
          type: 'CommentAdded',
          data: { entry_id: ENTRY, body: `b${index}`, ...answers },
        }),
      ];
    });
  }
});
