import { expect } from 'chai';
import { contentTypeForEnvelope, fires, triggerOf } from '../../../domain/automation/trigger.ts';
import { recordedEvent } from '../../support/recorded-events.ts';

describe('the trigger of an event', () => {
  it('is after_create, after_update or after_delete for entries; publishing and unpublishing are updates', () => {
    const of = (type: string) => triggerOf(recordedEvent({ type, data: { schema: 'article' } }))?.event;
    expect(
      ['EntryCreated', 'EntryFieldsChanged', 'EntryPublished', 'EntryUnpublished', 'EntryDeleted'].map(of),
    ).to.deep.equal(['after_create', 'after_update', 'after_update', 'after_update', 'after_delete']);
    expect(of('UserCreated')).to.equal(undefined);
  });

  it('is after_create of sys_schemas for every change of a content type, and after_delete for its deletion', () => {
    const of = (type: string) => triggerOf(recordedEvent({ type, data: { definition: { name: 'article' } } }));
    for (const type of ['ContentTypeSaved', 'ContentTypeRenamed', 'ContentTypeFieldRenamed'])
      expect(of(type), type).to.deep.equal({ event: 'after_create', schema: 'sys_schemas', kind: 'content_type' });
    expect(of('ContentTypeDeleted')?.event).to.equal('after_delete');
    expect(
      contentTypeForEnvelope(
        recordedEvent({ type: 'ContentTypeRenamed', revision: 3, data: { definition: { name: 'article' } } }),
      ),
    ).to.deep.equal({ name: 'article', action: 'updated' });
  });

  it('does not fire a webhook without events', () => {
    expect(
      fires({ enabled: true, events: [], schemas: [] }, { event: 'after_create', schema: 'article', kind: 'entry' }),
    ).to.equal(false);
  });

  it('does not fire a webhook that names sys_schemas among its schemas', () => {
    expect(
      fires(
        { enabled: true, events: ['after_create'], schemas: ['sys_schemas'] },
        { event: 'after_create', schema: 'sys_schemas', kind: 'content_type' },
      ),
    ).to.equal(false);
  });
});
