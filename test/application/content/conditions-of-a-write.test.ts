import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { createEntries } from '../../../application/content/create-entries.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import type { EntryDependencies } from '../../../application/content/run-entry-command.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { createClaims } from '../../../infrastructure/postgres/claims.ts';
import { testContext, useContent } from '../../support/content.ts';

const context = testContext();
const KEY = Buffer.alloc(32, 7);

for (const hasGuards of [true, false]) {
  describe(`a write whose condition ceases to hold before its append, on a store ${hasGuards ? 'with' : 'without'} guards`, () => {
    const content = useContent({ store: hasGuards ? 'postgres' : 'memory' });
    let author: ContentType;
    let book: ContentType;
    let compensations: unknown[];

    before(async () => {
      author = await content.save({ name: 'author', fields: [{ name: 'name', field_type: 'text' }] });
      const relation = { field_type: 'relation', relation_type: 'belongs_to', relation_to: 'author' } as const;
      book = await content.save({
        name: 'book',
        fields: [
          { name: 'isbn', field_type: 'text', unique: true },
          { ...relation, name: 'author', required: true },
          { ...relation, name: 'editor' },
        ],
      });
    });
    beforeEach(() => {
      compensations = [];
    });

    const claims = () => createClaims({ database: content.database(), key: KEY });
    const dependencies = (): EntryDependencies => ({
      ...content.dependencies(),
      claims: claims(),
      compensated: (compensation) => compensations.push(compensation),
    });

    /** Dependencies whose next append waits until the other write has ended. */
    function interruptedBy(otherWrite: () => Promise<unknown>): EntryDependencies {
      const inner = content.eventStore();
      let isFirst = true;
      const interrupt = async (): Promise<void> => {
        if (!isFirst) return;
        isFirst = false;
        await otherWrite();
      };
      const capabilities = { ...inner.capabilities, atomicMultiStream: hasGuards };
      return {
        ...dependencies(),
        eventStore: {
          ...inner,
          capabilities,
          async append(stream, events, options) {
            await interrupt();
            return inner.append(stream, events, options);
          },
          async appendMany(writes) {
            await interrupt();
            return inner.appendMany?.(writes) ?? [];
          },
        },
      };
    }

    async function create(type: ContentType, data: JsonObject): Promise<string> {
      const { entry } = await createEntry({ type, data }, context, dependencies());
      await content.project();
      return entry.id;
    }
    const remove = (type: ContentType, id: string) => deleteEntry({ type, id }, context, dependencies());
    const failure = (write: Promise<unknown>) => write.then(() => undefined).catch((error: unknown) => error);

    async function eventsOf(id: string): Promise<readonly RecordedEvent[]> {
      const events: RecordedEvent[] = [];
      for await (const event of content.eventStore().readStream(`entry-default.${id}`)) events.push(event);
      return events;
    }

    /** The types of the events of books since a position, oldest first, without those that were there before. */
    async function writtenSince(position: RecordedEvent['position'] | undefined): Promise<readonly string[]> {
      const types: string[] = [];
      for await (const event of content.eventStore().readAll({ ...(position && { after: position }) }))
        if (event.data['schema'] === 'book') types.push(event.type);
      return types;
    }

    it('does not create an entry whose author was deleted', async () => {
      const id = await create(author, {});
      const start = await content.eventStore().head();
      const error = await failure(
        createEntry(
          { type: book, data: { author: id } },
          context,
          interruptedBy(() => remove(author, id)),
        ),
      );
      const message = `related entry not found: ${id}`;
      expect(error).to.include({ code: 'validation_failed', message });
      expect(error).to.have.deep.property('fields', [{ field: 'author_id', message }]);
      expect(await writtenSince(start)).to.deep.equal(hasGuards ? [] : ['EntryCreated', 'EntryDeleted']);
      expect(compensations).to.have.length(hasGuards ? 0 : 1);
    });

    it('does not give an entry an author that was deleted', async () => {
      const [old, gone] = [await create(author, {}), await create(author, {})];
      const id = await create(book, { author: old });
      const error = await failure(
        changeEntry(
          { type: book, id, data: { author: gone } },
          context,
          interruptedBy(() => remove(author, gone)),
        ),
      );
      expect(error).to.include({ code: 'validation_failed', message: `related entry not found: ${gone}` });
      await content.project();
      expect((await content.dependencies().entryRows.load(book, id))?.fields['author_id']).to.equal(old);
    });

    it('creates none of several entries when the author of one was deleted', async () => {
      const [stays, gone] = [await create(author, {}), await create(author, {})];
      const items = [{ author: stays }, { author: gone }, { author: stays }];
      const error = await failure(
        createEntries(
          { type: book, items },
          context,
          interruptedBy(() => remove(author, gone)),
        ),
      );
      const problem = { index: 1, field: 'author_id', message: `related entry not found: ${gone}` };
      expect(error).to.include({ code: 'validation_failed' });
      expect(error).to.have.deep.property('body', { errors: [problem] });
      await content.project();
      for (const id of [stays, gone])
        for await (const referrers of content.dependencies().entryRows.referrers(author, id))
          expect(referrers).to.deep.equal([]);
    });

    it('does not delete an author whom a new entry requires', async () => {
      const id = await create(author, {});
      const error = await failure(
        deleteEntry(
          { type: author, id },
          context,
          interruptedBy(() => create(book, { author: id })),
        ),
      );
      expect(error).to.include({ code: 'entry_referenced', message: 'entry is referenced by book.author' });
      const types = (await eventsOf(id)).map(({ type }) => type);
      expect(types).to.deep.equal(hasGuards ? ['EntryCreated'] : ['EntryCreated', 'EntryDeleted', 'EntryUndeleted']);
      await content.project();
      expect((await content.dependencies().entryRows.load(author, id))?.deleted).to.equal(false);
    });

    it('leaves no reference to a deleted editor', async () => {
      const [id, other] = [await create(author, {}), await create(author, {})];
      let made = '';
      const link = async (): Promise<void> => {
        made = await create(book, { author: other, editor: id });
      };
      const error = await failure(deleteEntry({ type: author, id }, context, interruptedBy(link)));
      if (!hasGuards) {
        expect(error).to.include({ code: 'store_unavailable' });
        await content.project();
        await remove(author, id);
      }
      await content.project();
      expect((await content.dependencies().entryRows.load(book, made))?.fields['editor_id']).to.equal(null);
      expect(await content.dependencies().entryRows.load(author, id)).to.equal(undefined);
    });

    it('does not write a unique value that another entry took while the process was stopped', async () => {
      const id = await create(author, {});
      const start = await content.eventStore().head();
      const takeOver = async (): Promise<void> => {
        // The reaper finds a claim without an event.
        await claims().reap({ olderThanSeconds: 0, heldBy: () => Promise.resolve([]) });
        await create(book, { author: id, isbn: 'one' });
      };
      const error = await failure(
        createEntry({ type: book, data: { author: id, isbn: 'one' } }, context, interruptedBy(takeOver)),
      );
      expect(error).to.include({ code: 'unique_value_held' });
      expect(error).to.have.deep.property('fields', [{ field: 'isbn', message: 'unique value already held' }]);
      expect(await writtenSince(start)).to.deep.equal(
        hasGuards ? ['EntryCreated'] : ['EntryCreated', 'EntryCreated', 'EntryDeleted'],
      );
    });

    it('names more large entries than the append compares', async () => {
      const name = randomBytes(600_000).toString('base64');
      const [one, other] = [await create(author, { name }), await create(author, { name })];
      const id = await create(book, { author: one, editor: other });
      await changeEntry({ type: book, id, data: { author: other, editor: one } }, context, dependencies());
      await createEntries({ type: book, items: [{ author: one, editor: other }] }, context, dependencies());
      await content.project();
      expect((await content.dependencies().entryRows.load(book, id))?.fields).to.include({
        author_id: other,
        editor_id: one,
      });
      const data = { author: one, editor: id };
      const error = await failure(changeEntry({ type: book, id, data }, context, dependencies()));
      expect(error).to.include({ code: 'validation_failed', message: `related entry not found: ${id}` });
    });

    it('records why an event takes back another', async () => {
      const id = await create(author, {});
      await failure(
        createEntry(
          { type: book, data: { author: id } },
          context,
          interruptedBy(() => remove(author, id)),
        ),
      );
      const [compensation] = compensations as { stream: string }[];
      if (hasGuards) return expect(compensation).to.equal(undefined);
      expect(compensation).to.include({ reason: 'validation_failed', isTakenBack: true });
      const last = (await eventsOf(compensation?.stream.replace('entry-default.', '') ?? '')).at(-1);
      return expect(last?.data['compensates']).to.deep.equal({ revision: 0, reason: 'validation_failed' });
    });
  });
}
