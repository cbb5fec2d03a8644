import { expect } from 'chai';
import { createContentTypeDirectory } from '../../../application/content/content-type-directory.ts';
import { toNewEvent } from '../../../application/handle-command.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { type GlobalPosition, ORIGIN, positionFrom } from '../../../domain/event.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { testContext } from '../../support/content.ts';
import { eventually } from '../../support/eventually.ts';

const typeAt = (revision: number): ContentType => ({
  id: 't',
  tenant: 'default',
  name: 'article',
  revision,
  definition: { name: 'article', fields: [] },
  fieldNames: [],
});

/** A directory over a read model whose position the test controls. */
function directoryOver() {
  const model: {
    position: GlobalPosition;
    type: ContentType | undefined;
    loads: number;
    hold?: Promise<void> | undefined;
  } = { position: ORIGIN, type: typeAt(0), loads: 0 };
  const directory = createContentTypeDirectory({
    load: async () => {
      model.loads += 1;
      const { type } = model;
      await model.hold;
      return type;
    },
    position: () => model.position,
  });
  const revision = async () => (await directory.get('default', 'article'))?.revision;
  return { model, directory, revision };
}

describe('the directory of content types', () => {
  it('reads each name from the read model once, also an unknown one', async () => {
    const { model, directory, revision } = directoryOver();
    await Promise.all([revision(), revision()]);
    model.type = undefined;
    await directory.get('default', 'ghost');
    await directory.get('default', 'ghost');
    expect(model.loads).to.equal(2);
  });

  it('reads nothing for an invalid name', async () => {
    const { model, directory } = directoryOver();
    for (const name of ['', '_content_types', 'A', '__proto__', 'a/b', 'a'.repeat(64)])
      expect(await directory.get('default', name)).to.equal(undefined);
    expect(model.loads).to.equal(0);
  });

  it('reads a name again after the read model has reached a change, and not before', async () => {
    const { model, directory, revision } = directoryOver();
    expect(await revision()).to.equal(0);
    directory.changed('default', 'article', positionFrom(5));
    directory.changed('default', 'article', positionFrom(9));
    model.type = typeAt(1);
    expect(await revision()).to.equal(0);
    model.position = positionFrom(6);
    expect(await revision()).to.equal(1);
    model.type = typeAt(2);
    expect(await revision()).to.equal(1);
    model.position = positionFrom(9);
    expect(await revision()).to.equal(2);
    expect(model.loads).to.equal(3);
  });

  it('reads a name again after a change that the read model had not reached at the first request', async () => {
    const { model, directory, revision } = directoryOver();
    model.type = undefined;
    directory.changed('default', 'article', positionFrom(5));
    expect(await revision()).to.equal(undefined);
    model.type = typeAt(0);
    model.position = positionFrom(5);
    expect(await revision()).to.equal(0);
  });

  it('reads every name of the tenant again after a rename', async () => {
    const { model, directory, revision } = directoryOver();
    expect(await revision()).to.equal(0);
    await directory.get('other', 'article');
    directory.changed('default', undefined, positionFrom(5));
    await directory.get('default', 'unasked');
    model.type = typeAt(1);
    model.position = positionFrom(5);
    expect(await revision()).to.equal(1);
    expect((await directory.get('default', 'unasked'))?.revision).to.equal(1);
    expect((await directory.get('other', 'article'))?.revision, 'of another tenant').to.equal(0);
  });

  it('does not cache a type that changed while it was read', async () => {
    const { model, directory, revision } = directoryOver();
    let release = () => {};
    model.hold = new Promise((resolve) => (release = resolve));
    const early = revision();
    directory.changed('default', 'article', positionFrom(5));
    model.type = typeAt(1);
    model.position = positionFrom(5);
    model.hold = undefined;
    release();
    await early;
    expect(await revision()).to.equal(1);
  });

  it('reads again after a failed read', async () => {
    let fail = true;
    const directory = createContentTypeDirectory({
      load: () => (fail ? Promise.reject(new Error('down')) : Promise.resolve(typeAt(0))),
      position: () => ORIGIN,
    });
    expect(await directory.get('default', 'article').catch(() => 'failed')).to.equal('failed');
    fail = false;
    expect((await directory.get('default', 'article'))?.revision).to.equal(0);
  });

  it('reads a name again after a change by another process', async () => {
    const { model, directory, revision } = directoryOver();
    const eventStore = openMemoryEventStore();
    const stop = new AbortController();
    const following = directory.follow(eventStore, stop.signal);
    expect(await revision()).to.equal(0);
    const context = testContext();
    const event = { type: 'ContentTypeDeleted', data: { type_id: 't', name: 'article', content: 'hard' } } as const;
    await eventually(async () => {
      const { position } = await eventStore.append('content_type-default.t', [toNewEvent(event, context)], {
        expected: 'any',
      });
      model.position = position;
      model.type = undefined;
      expect(await revision()).to.equal(undefined);
    });
    stop.abort();
    await following;
  });
});
