import { expect } from 'chai';
import type { ReleaseEvent, ReleaseState } from '../../../domain/content/release.ts';
import { changeRelease, deleteRelease, releaseDecider, setReleaseEntries } from '../../../domain/content/release.ts';
import { hasCode } from '../../../domain/errors.ts';
import type { ErrorCode } from '../../../domain/errors.ts';

const ACTOR = { kind: 'user', id: 'u1' } as const;
const CREATED: ReleaseEvent = { type: 'ReleaseCreated', data: { name: 'r', description: '', scheduled_at: null } };
const SCHEDULED: ReleaseEvent = { type: 'ReleaseChanged', data: { scheduled_at: '2030-01-01T00:00:00.000Z' } };
const PUBLISHED: ReleaseEvent = { type: 'ReleasePublished', data: {} };
const STARTED: ReleaseEvent = { type: 'ReleasePublicationStarted', data: { moves: [] } };
const FAILED: ReleaseEvent = { type: 'ReleasePublicationFailed', data: { refused: [{ entry_id: 'e1', error: 'content not found' }] } };
const ITEM = { entry_id: 'e1', action: 'publish' } as const;

const given = (...events: readonly ReleaseEvent[]): ReleaseState => events.reduce<ReleaseState>((state, event) => releaseDecider.evolve(state, { ...event, actor: ACTOR }), releaseDecider.initialState());
function refuses(code: ErrorCode, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    expect(hasCode(error, code), String(error)).to.equal(true);
    return;
  }
  expect.fail(`not refused with ${code}`);
}

describe('a release', () => {
  it('is a draft without a time, scheduled with one, and remembers who set it', () => {
    expect(given(CREATED)).to.deep.include({ status: 'draft', scheduledBy: undefined });
    expect(given(CREATED, SCHEDULED)).to.deep.include({ status: 'scheduled', scheduledBy: ACTOR });
    expect(given(CREATED, SCHEDULED, { type: 'ReleaseChanged', data: { scheduled_at: null } })).to.deep.include({ status: 'draft', scheduledBy: undefined });
  });

  it('appends what differs, and nothing where nothing does', () => {
    expect(changeRelease(given(CREATED), { name: 'r', description: 'd' })).to.deep.equal([{ type: 'ReleaseChanged', data: { description: 'd' } }]);
    expect(changeRelease(given(CREATED, SCHEDULED), { name: 'r', ...SCHEDULED.data })).to.deep.equal([]);
    expect(setReleaseEntries(given(CREATED), [ITEM])).to.deep.equal([{ type: 'ReleaseEntriesSet', data: { items: [ITEM] } }]);
    expect(setReleaseEntries(given(CREATED, { type: 'ReleaseEntriesSet', data: { items: [ITEM] } }), [ITEM])).to.deep.equal([]);
  });

  it('that failed keeps the reason until it gets a time again, also the same one', () => {
    const failed = given(CREATED, SCHEDULED, FAILED);
    expect(failed).to.deep.include({ status: 'failed', refused: [{ entry_id: 'e1', error: 'content not found' }] });
    expect(changeRelease(failed, SCHEDULED.data)).to.deep.equal([SCHEDULED]);
    expect(given(CREATED, SCHEDULED, FAILED, SCHEDULED)).to.deep.include({ status: 'scheduled', refused: [] });
  });

  it('that is published or being published is not changed; published ones may be deleted', () => {
    for (const [state, code] of [[given(CREATED, PUBLISHED), 'release_published'], [given(CREATED, STARTED), 'release_in_progress'], [given(), 'release_not_found']] as const) {
      refuses(code, () => changeRelease(state, { name: 'x' }));
      refuses(code, () => setReleaseEntries(state, []));
    }
    refuses('release_in_progress', () => deleteRelease(given(CREATED, STARTED)));
    refuses('release_not_found', () => deleteRelease(given(CREATED, { type: 'ReleaseDeleted', data: {} })));
    expect(deleteRelease(given(CREATED, PUBLISHED))).to.have.length(1);
  });
});
