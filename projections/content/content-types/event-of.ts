import type { ContentTypeEvent } from '../../../domain/content/content-type-events.ts';
import type { RecordedEvent } from '../../../domain/event.ts';

/** A recorded content type event of the given type. */
export type EventOf<Type extends ContentTypeEvent['type']> = RecordedEvent &
  Extract<ContentTypeEvent, { readonly type: Type }>;
