import type { ContentTypeEvent } from '../../../domain/content/events.ts';
import type { RecordedEvent } from '../../../domain/event.ts';

/** A stored event of a content type, by its type. */
export type EventOf<Type extends ContentTypeEvent['type']> = RecordedEvent & Extract<ContentTypeEvent, { readonly type: Type }>;
