import type { ContentTypeEvent } from '../../../domain/content/content-type-events.ts';
import { contentTypeDecider } from '../../../domain/content/content-type.ts';
import { given } from '../../support/given.ts';

describe('a content type', () => {
  const definition = { name: 'article', fields: [] };
  const saved: ContentTypeEvent = {
    type: 'ContentTypeSaved',
    data: { type_id: 't', definition, statements: [], canceled: [], retained: [] },
  };
  const renamed: ContentTypeEvent = {
    type: 'ContentTypeRenamed',
    data: { type_id: 't', from: 'article', definition: { ...definition, name: 'story' }, statements: [] },
  };
  const deleted: ContentTypeEvent = {
    type: 'ContentTypeDeleted',
    data: { type_id: 't', name: 'article', content: 'soft' },
  };

  it('is saved before it exists, while it is live, and after it was deleted', () => {
    for (const events of [[], [saved], [saved, deleted]])
      given(contentTypeDecider, events).when({ kind: 'save', event: saved.data }).thenAppends([saved]);
  });
  it('is renamed and deleted while it is live', () => {
    given(contentTypeDecider, [saved]).when({ kind: 'rename', event: renamed.data }).thenAppends([renamed]);
    given(contentTypeDecider, [saved, renamed]).when({ kind: 'delete', event: deleted.data }).thenAppends([deleted]);
  });
  it('is not found before it was saved and after it was deleted', () => {
    for (const events of [[], [saved, deleted]]) {
      given(contentTypeDecider, events).when({ kind: 'rename', event: renamed.data }).thenRefuses('schema_not_found');
      given(contentTypeDecider, events).when({ kind: 'delete', event: deleted.data }).thenRefuses('schema_not_found');
    }
  });
});
