import { expect } from 'chai';
import { createContentTypeCatalogue } from '../../../application/content/content-type-catalogue.ts';
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

/** A catalogue over a read model whose position the test controls. */
function catalogueOver() {
  const model: {
    position: GlobalPosition;
    type: ContentType | undefined;
    loads: number;
    hold?: Promise<void> | undefined;
  } = { position: ORIGIN, type: typeAt(0), loads: 0 };
  const catalogue = createContentTypeCatalogue({
    load: async () => {
      model.loads += 1;
      const { type } = model;
      await model.hold;
      return type;
    },
    position: () => model.position,
  });
  const revision = async () => (await catalogue.get('default', 'article'))?.revision;
  return { model, catalogue, revision };
}

describe('the catalogue of content types', () => {
  it('reads each name from the read model once, also an unknown one', async () => {
    const { model, catalogue, revision } = catalogueOver();
    await Promise.all([revision(), revision()]);
    model.type = undefined;
    await catalogue.get('default', 'ghost');
    await catalogue.get('default', 'ghost');
    expect(model.loads).to.equal(2);
  });

  it('reads nothing for an invalid name', async () => {
    const { model, catalogue } = catalogueOver();
    for (const name of ['', '_content_types', 'A', '__proto__', 'a/b', 'a'.repeat(64)])
      expect(await catalogue.get('default', name)).to.equal(undefined);
    expect(model.loads).to.equal(0);
  });

  it('reads a name again after the read model has reached a change, and not before', async () => {
    const { model, catalogue, revision } = catalogueOver();
    expect(await revision()).to.equal(0);
    catalogue.changed('default', 'article', positionFrom(5));
    catalogue.changed('default', 'article', positionFrom(9));
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
    const { model, catalogue, revision } = catalogueOver();
    model.type = undefined;
    catalogue.changed('default', 'article', positionFrom(5));
    expect(await revision()).to.equal(undefined);
    model.type = typeAt(0);
    model.position = positionFrom(5);
    expect(await revision()).to.equal(0);
  });

  it('reads every name of the tenant again after a rename', async () => {
    const { model, catalogue, revision } = catalogueOver();
    expect(await revision()).to.equal(0);
    await catalogue.get('other', 'article');
    catalogue.changed('default', undefined, positionFrom(5));
    await catalogue.get('default', 'unasked');
    model.type = typeAt(1);
    model.position = positionFrom(5);
    expect(await revision()).to.equal(1);
    expect((await catalogue.get('default', 'unasked'))?.revision).to.equal(1);
    expect((await catalogue.get('other', 'article'))?.revision, 'of another tenant').to.equal(0);
  });

  it('does not cache a type that changed while it was read', async () => {
    const { model, catalogue, revision } = catalogueOver();
    let release = () => {};
    model.hold = new Promise((resolve) => (release = resolve));
    const early = revision();
    catalogue.changed('default', 'article', positionFrom(5));
    model.type = typeAt(1);
    model.position = positionFrom(5);
    model.hold = undefined;
    release();
    await early;
    expect(await revision()).to.equal(1);
  });

  it('reads again after a failed read', async () => {
    let fail = true;
    const catalogue = createContentTypeCatalogue({
      load: () => (fail ? Promise.reject(new Error('down')) : Promise.resolve(typeAt(0))),
      position: () => ORIGIN,
    });
    expect(await catalogue.get('default', 'article').catch(() => 'failed')).to.equal('failed');
    fail = false;
    expect((await catalogue.get('default', 'article'))?.revision).to.equal(0);
  });

  it('reads a name again after a change by another process', async () => {
    const { model, catalogue, revision } = catalogueOver();
    const eventStore = openMemoryEventStore();
    const stop = new AbortController();
    const following = catalogue.follow(eventStore, stop.signal);
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
