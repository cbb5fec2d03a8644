import { expect } from 'chai';
import type { AttributedReleaseEvent, ReleaseEvent, ReleaseSettings } from '../../../domain/content/release-events.ts';
import { type ReleaseCommand, type ReleaseState, releaseDecider } from '../../../domain/content/release.ts';
import { given } from '../../support/given.ts';

const actor = { kind: 'user', id: 'u1' } as const;
const other = { kind: 'user', id: 'u2' } as const;
const by = (event: ReleaseEvent): AttributedReleaseEvent => ({ ...event, actor });
const SCHEDULE = { scheduled_at: '2030-01-01T00:00:00.000Z' };
const SETTINGS = { name: 'r', description: '', scheduled_at: null };
const REFUSED = [{ entry_id: 'e1', error: 'content not found' }];
const ITEM = { entry_id: 'e1', action: 'publish' } as const;

const created = by({ type: 'ReleaseCreated', data: SETTINGS });
const scheduled = by({ type: 'ReleaseChanged', data: SCHEDULE });
const unscheduled = by({ type: 'ReleaseChanged', data: { scheduled_at: null } });
const itemsSet = by({ type: 'ReleaseEntriesSet', data: { items: [ITEM] } });
const published = by({ type: 'ReleasePublished', data: {} });
const started = by({ type: 'ReleasePublicationStarted', data: { moves: [] } });
const failed = by({ type: 'ReleasePublicationFailed', data: { refused: REFUSED } });
const deleted = by({ type: 'ReleaseDeleted', data: {} });

const create: ReleaseCommand = { kind: 'create', settings: SETTINGS, actor };
const change = (settings: Partial<ReleaseSettings>): ReleaseCommand => ({ kind: 'change', settings, actor });
const setItems = (...items: readonly (typeof ITEM)[]): ReleaseCommand => ({ kind: 'set_entries', items, actor });
const remove: ReleaseCommand = { kind: 'delete', actor };
const stateOf = (...events: readonly AttributedReleaseEvent[]): ReleaseState =>
  events.reduce(releaseDecider.evolve, releaseDecider.initialState());

describe('a release', () => {
  it('is created with its settings', () => {
    given(releaseDecider, []).when(create).thenAppends([created]);
  });
  it('is created once', () => {
    for (const events of [[created], [created, published]])
      given(releaseDecider, events).when(create).thenRefuses('conflict');
  });
  it('is a draft without a schedule, and scheduled by the actor who set one', () => {
    expect(stateOf(created)).to.deep.include({ status: 'draft', scheduledBy: undefined });
    expect(stateOf(created, scheduled)).to.deep.include({ status: 'scheduled', scheduledBy: actor });
    expect(stateOf(created, scheduled, unscheduled)).to.deep.include({ status: 'draft', scheduledBy: undefined });
  });

  it('records the settings that changed', () => {
    given(releaseDecider, [created])
      .when(change({ name: 'r', description: 'd' }))
      .thenAppends([by({ type: 'ReleaseChanged', data: { description: 'd' } })]);
  });
  it('does not change when the settings are the current ones', () => {
    given(releaseDecider, [created, scheduled])
      .when(change({ name: 'r', ...SCHEDULE }))
      .thenAppendsNothing();
  });
  it('gets its entries once', () => {
    given(releaseDecider, [created]).when(setItems(ITEM)).thenAppends([itemsSet]);
    given(releaseDecider, [created, itemsSet]).when(setItems(ITEM)).thenAppendsNothing();
  });

  it('records another actor who sets the same entries', () => {
    const set = { type: 'ReleaseEntriesSet', data: { items: [ITEM] }, actor: other } as const;
    given(releaseDecider, [created, itemsSet])
      .when({ ...setItems(ITEM), actor: other })
      .thenAppends([set]);
    expect(stateOf(created, itemsSet)).to.deep.include({ itemsSetBy: actor });
    expect(stateOf(created, itemsSet, set)).to.deep.include({ itemsSetBy: other });
  });
  it('loses its schedule when another actor than the one who set it changes the entries', () => {
    given(releaseDecider, [created, itemsSet, scheduled])
      .when({ ...setItems(), actor: other })
      .thenAppends([
        { type: 'ReleaseEntriesSet', data: { items: [] }, actor: other },
        { type: 'ReleaseChanged', data: { scheduled_at: null }, actor: other },
      ]);
    given(releaseDecider, [created, scheduled]).when(setItems(ITEM)).thenAppends([itemsSet]);
    given(releaseDecider, [created, scheduled, failed])
      .when({ ...setItems(ITEM), actor: other })
      .thenAppends([{ type: 'ReleaseEntriesSet', data: { items: [ITEM] }, actor: other }]);
  });

  it('keeps the reason of a failure until it is scheduled again', () => {
    expect(stateOf(created, scheduled, failed)).to.deep.include({ status: 'failed', refused: REFUSED });
    expect(stateOf(created, scheduled, failed, scheduled)).to.deep.include({ status: 'scheduled', refused: [] });
  });
  it('is scheduled again after a failure, also for the same time', () => {
    given(releaseDecider, [created, scheduled, failed]).when(change(SCHEDULE)).thenAppends([scheduled]);
  });

  for (const command of [change({ name: 'x' }), setItems()]) {
    it(`refuses ${command.kind} after its publication and during it`, () => {
      given(releaseDecider, [created, published]).when(command).thenRefuses('release_published');
      given(releaseDecider, [created, started]).when(command).thenRefuses('release_in_progress');
    });
    it(`refuses ${command.kind} before it exists`, () => {
      given(releaseDecider, []).when(command).thenRefuses('release_not_found');
    });
  }

  it('is deleted after its publication', () => {
    given(releaseDecider, [created, published]).when(remove).thenAppends([deleted]);
  });
  it('is not deleted during its publication', () => {
    given(releaseDecider, [created, started]).when(remove).thenRefuses('release_in_progress');
  });
  it('is deleted once', () => {
    given(releaseDecider, [created, deleted]).when(remove).thenRefuses('release_not_found');
  });
});
