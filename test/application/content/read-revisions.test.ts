import { expect } from 'chai';
import fc from 'fast-check';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { diffRevisions, readRevision } from '../../../application/content/read-revisions.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { testContext, useContent } from '../../support/content.ts';

describe('differences between revisions', () => {
  const content = useContent();
  const context = testContext();
  const hidden: ReadonlySet<string> = new Set();
  const window = { holds: () => true, refusal: () => new Error('outside the window') };
  let type: ContentType;

  before(async () => {
    type = await content.save({
      name: 'note',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'body', field_type: 'text' },
      ],
    });
  });

  it('equal those of the two revisions read alone, and read each event of the stream once', async () => {
    const edit = fc.record({ field: fc.constantFrom('title', 'body'), value: fc.constantFrom('a', 'b', 'c') });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), fc.nat(), fc.nat(), async (edits, a, b) => {
        const { entry } = await createEntry({ type, data: { title: 'a' } }, context, content.dependencies());
        let { version } = entry;
        for (const { field, value } of edits) {
          const input = { type, id: entry.id, data: { [field]: value } };
          ({ version } = (await changeEntry(input, context, content.dependencies())).entry);
        }
        const [from, to] = [1 + (a % version), 1 + (b % version)];
        const address = { type, id: entry.id, hidden, window };
        const dataOf = async (revision: number) =>
          (await readRevision({ ...address, revision: String(revision) }, content.dependencies())).data;
        const [before, after] = [await dataOf(from), await dataOf(to)];
        const expected = Object.keys(after)
          .map((field) => ({ field, from: before[field], to: after[field] }))
          .filter((change) => change.from !== change.to);

        const store = content.eventStore();
        let read = 0;
        const eventStore: EventStore = {
          ...store,
          async *readStream(...args) {
            for await (const event of store.readStream(...args)) {
              read += 1;
              yield event;
            }
          },
        };
        const entryRows = { ...content.dependencies().entryRows, load: () => Promise.resolve(entry) };
        const input = { ...address, from: String(from), to: String(to) };
        expect(await diffRevisions(input, { eventStore, entryRows })).to.deep.equal(expected);
        // Two events to find the revisions by their versions, and two to answer with.
        expect(read).to.equal(Math.max(from, to) + 4);
      }),
      { numRuns: 15 },
    );
  });
});
