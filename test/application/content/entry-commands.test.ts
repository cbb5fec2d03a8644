import { expect } from 'chai';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { claimsOfEntry } from '../../../application/content/claims-of-entry.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import { createEntryHistory } from '../../../application/content/entry-history.ts';
import { transitionEntry } from '../../../application/content/transition-entry.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { streamName } from '../../../domain/stream.ts';
import { testContext, useContent } from '../../support/content.ts';
import { rejectionOf } from '../../support/rejection.ts';

/** A store that counts the events that are read from its streams. */
function counting(store: EventStore): EventStore & { read: number } {
  const counted = {
    ...store,
    read: 0,
    async *readStream(...args: Parameters<EventStore['readStream']>) {
      for await (const event of store.readStream(...args)) {
        counted.read += 1;
        yield event;
      }
    },
  };
  return counted;
}

describe('commands on entries', () => {
  const content = useContent();
  const context = testContext();
  let type: ContentType;

  before(async () => {
    type = await content.save({
      name: 'article',
      with_draft_publish: true,
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'code', field_type: 'text', unique: true },
      ],
    });
  });

  const make = async (data: Record<string, string>) =>
    (await createEntry({ type, data }, context, content.dependencies())).entry.id;
  const codeOf = (error: unknown) => (error as { code?: string }).code;

  it('reads no event of a long history for an update when the read model is current', async () => {
    const id = await make({ title: 'a' });
    for (let n = 0; n < 200; n += 1)
      await changeEntry({ type, id, data: { title: `t${n}` } }, context, content.dependencies());
    await content.project();
    const eventStore = counting(content.eventStore());
    const { entry } = await changeEntry({ type, id, data: { title: 'last' } }, context, {
      ...content.dependencies(),
      eventStore,
    });
    expect([entry.version, eventStore.read]).to.deep.equal([202, 0]);
    // The row is one event behind: one conflict, one event is read.
    const next = await changeEntry({ type, id, data: { title: 'after' } }, context, {
      ...content.dependencies(),
      eventStore,
    });
    expect([next.entry.version, eventStore.read]).to.deep.equal([203, 1]);
  });

  it('decides on the stream while the read model does not have the entry', async () => {
    const id = await make({ title: 'a' });
    expect((await changeEntry({ type, id, data: { title: 'b' } }, context, content.dependencies())).entry).to.include({
      version: 2,
    });
  });

  it('does not base a refusal or a no-op on a stale row', async () => {
    const id = await make({ title: 'a' });
    await content.project();
    await changeEntry({ type, id, data: { title: 'b' } }, context, content.dependencies());
    // On the row nothing would change, and version 2 is unknown.
    expect((await changeEntry({ type, id, data: { title: 'a' } }, context, content.dependencies())).entry).to.include({
      version: 3,
    });
    await transitionEntry({ type, id, transition: 'publish', versions: [3] }, context, content.dependencies());
    const error = await rejectionOf(
      changeEntry({ type, id, data: { title: 'c' }, versions: [1] }, context, content.dependencies()),
    );
    expect(codeOf(error)).to.equal('entry_changed');
  });

  it('answers a deleted entry as not found before the read model has applied the deletion', async () => {
    const id = await make({ title: 'a' });
    await content.project();
    await deleteEntry({ type, id }, context, content.dependencies());
    for (const again of [
      changeEntry({ type, id, data: { title: 'x' } }, context, content.dependencies()),
      deleteEntry({ type, id }, context, content.dependencies()),
    ]) {
      expect(codeOf(await rejectionOf(again))).to.equal('entry_not_found');
    }
  });

  it('releases the unique value of a command that the store refused', async () => {
    const broken: EventStore = {
      ...content.eventStore(),
      append: () => Promise.reject(Object.assign(new Error('full'), { code: 'too_large' })),
    };
    const error = await rejectionOf(
      createEntry({ type, data: { code: 'wanted' } }, context, {
        ...content.dependencies(),
        eventStore: broken,
      }),
    );
    expect(codeOf(error)).to.equal('too_large');
    await make({ code: 'wanted' });
  });

  it('returns the unique values of an entry to the reaper of claims', async () => {
    const id = await make({ code: 'held' });
    const held = () =>
      claimsOfEntry(
        { tenant: 'default', id },
        { eventStore: content.eventStore(), typeOfTenant: () => Promise.resolve(type) },
      );
    expect(await held()).to.deep.equal([{ tenant: 'default', scope: `entry/${type.id}/id_code`, value: 'held' }]);
    await content.project();
    await deleteEntry({ type, id }, context, content.dependencies());
    expect(await held()).to.deep.equal([]);
  });

  it('gives events the time that the response shows', async () => {
    const { entry } = await createEntry({ type, data: {} }, context, content.dependencies());
    expect((await content.log()).at(-1)?.metadata.occurred_at).to.equal(entry.createdAt);
  });

  describe('history', () => {
    it('returns the whole entry before and after each event, and reads one event for each step', async () => {
      const id = await make({ title: 'a' });
      await changeEntry({ type, id, data: { title: 'b' } }, context, content.dependencies());
      await content.project();
      await deleteEntry({ type, id }, context, content.dependencies());
      const stream = streamName({ category: 'entry', tenant: 'default', id });
      const events = (await content.log()).filter((event) => event.stream === stream);
      const eventStore = counting(content.eventStore());
      const history = createEntryHistory({ eventStore });
      const titles = async (event: RecordedEvent) => {
        const { before, after } = await history.changeOf(event);
        return [before?.fields['title'], after?.fields['title']];
      };
      const changes = [];
      for (const event of events) changes.push(await titles(event));
      expect(changes).to.deep.equal([
        [undefined, 'a'],
        ['a', 'b'],
        ['b', undefined],
      ]);
      expect(eventStore.read).to.equal(0);
      // Reading out of order costs a fold and gives the same result.
      expect(await titles(events[1]!)).to.deep.equal(['a', 'b']);
    });

    it('reads nothing when the same event is read again', async () => {
      const id = await make({ title: 'a' });
      await changeEntry({ type, id, data: { title: 'b' } }, context, content.dependencies());
      const stream = streamName({ category: 'entry', tenant: 'default', id });
      const [, second] = (await content.log()).filter((event) => event.stream === stream);
      const eventStore = counting(content.eventStore());
      const history = createEntryHistory({ eventStore });
      const first = await history.changeOf(second!);
      const read = eventStore.read;
      expect(await history.changeOf(second!)).to.deep.equal(first);
      expect(eventStore.read).to.equal(read);
    });

    it('uses the current names of fields when it gets the content type', async () => {
      const id = await make({ title: 'a' });
      const stream = streamName({ category: 'entry', tenant: 'default', id });
      const [event] = (await content.log()).filter((known) => known.stream === stream);
      const fields = type.definition.fields.map((field) =>
        field.name === 'title' ? { ...field, name: 'headline' } : field,
      );
      const renamed: ContentType = {
        ...type,
        name: 'story',
        revision: 1,
        definition: { ...type.definition, name: 'story', fields },
      };
      const history = createEntryHistory({ eventStore: content.eventStore() });
      expect((await history.changeOf(event!)).after).to.deep.include({ schema: 'article', fields: { title: 'a' } });
      expect((await history.changeOf(event!, renamed)).after).to.deep.include({
        schema: 'story',
        fields: { headline: 'a' },
      });
      expect((await history.changesOf([event!], renamed)).get(event!)?.after?.fields).to.deep.equal({ headline: 'a' });
    });

    it('keeps no more states than the limit allows', async () => {
      const id = await make({ title: 'x'.repeat(1000) });
      await changeEntry({ type, id, data: { title: 'y'.repeat(1000) } }, context, content.dependencies());
      const eventStore = counting(content.eventStore());
      const history = createEntryHistory({ eventStore, maxCachedCharacters: 1000 });
      const stream = streamName({ category: 'entry', tenant: 'default', id });
      const [, second] = (await content.log()).filter((event) => event.stream === stream);
      for (let n = 1; n <= 3; n += 1) {
        await history.changeOf(second!);
        expect(eventStore.read).to.equal(n);
      }
    });

    it('counts a value that a change left as it was once', async () => {
      const id = await make({ title: 'x'.repeat(1000) });
      await changeEntry({ type, id, data: { code: 'y' } }, context, content.dependencies());
      const eventStore = counting(content.eventStore());
      const history = createEntryHistory({ eventStore, maxCachedCharacters: 2500 });
      const stream = streamName({ category: 'entry', tenant: 'default', id });
      const [, second] = (await content.log()).filter((event) => event.stream === stream);
      for (let n = 1; n <= 3; n += 1) await history.changeOf(second!);
      expect(eventStore.read).to.equal(1);
    });
  });
});
