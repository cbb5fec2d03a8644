import type { CanvasLayoutEvent } from '../../../domain/content/canvas-layout-events.ts';
import { canvasLayoutDecider } from '../../../domain/content/canvas-layout.ts';
import { given } from '../../support/given.ts';

describe('a canvas layout', () => {
  const placed: CanvasLayoutEvent = {
    type: 'CanvasLayoutChanged',
    data: { moved: { article: { x: 1, y: 2 }, tag: { x: 3, y: 4 } }, removed: [] },
  };

  it('records what moved and what was removed, not the whole layout', () => {
    given(canvasLayoutDecider, [placed])
      .when({ kind: 'arrange', positions: { article: { x: 1, y: 9 } } })
      .thenAppends([{ type: 'CanvasLayoutChanged', data: { moved: { article: { x: 1, y: 9 } }, removed: ['tag'] } }]);
  });
  it('does not change when the layout is the current one', () => {
    given(canvasLayoutDecider, [placed]).when({ kind: 'arrange', positions: placed.data.moved }).thenAppendsNothing();
  });
});
