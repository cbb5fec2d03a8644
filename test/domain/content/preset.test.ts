import type { PresetEvent } from '../../../domain/content/preset-events.ts';
import { presetDecider } from '../../../domain/content/preset.ts';
import { given } from '../../support/given.ts';

describe('a preset', () => {
  const preset = { id: 'blog', name: 'Blog', description: '', schemas: [] };
  const saved: PresetEvent = { type: 'PresetSaved', data: { preset, source_url: null } };
  const deleted: PresetEvent = { type: 'PresetDeleted', data: { id: 'blog' } };

  it('is saved, and saved again over itself', () => {
    for (const events of [[], [saved], [saved, deleted]])
      given(presetDecider, events).when({ kind: 'save', preset, sourceUrl: null }).thenAppends([saved]);
  });
  it('is deleted once', () => {
    given(presetDecider, [saved]).when({ kind: 'delete', id: 'blog' }).thenAppends([deleted]);
    given(presetDecider, [saved, deleted]).when({ kind: 'delete', id: 'blog' }).thenRefuses('preset_not_found');
    given(presetDecider, []).when({ kind: 'delete', id: 'blog' }).thenRefuses('preset_not_found');
  });
});
