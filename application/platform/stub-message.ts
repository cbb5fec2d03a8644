import type { RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { type Message, deadLetterTopic } from '../ports/message-bus.ts';
import { contentChangesTopic } from './topics.ts';

/** Why the data of an event is not in its message: the message is too large for the topic, or the broker refuses it. */
export type StubReason = 'too_large' | 'refused';

/** The member `stub` of a value without `data` and `old_data`. */
export type Stub = {
  readonly reason: StubReason;
  /** Length of the value with its data, in bytes. */
  readonly bytes: number;
  /** Where the data is: a path of the Admin API. The header `ce_dataref` is the same. */
  readonly href: string;
};

/** Headers added to a stub on a dead-letter topic. */
export const STUB_LETTER_HEADERS = ['x-origin-topic', 'x-group', 'x-error'] as const;

/** The header of CloudEvents that marks a stub. */
export const DATAREF = 'ce_dataref';

/**
 * Replaces the data of a message of the relay by a link. Key and headers stay, so that consumers keep the order.
 * @returns the stub for the topic and a copy for its dead-letter topic; undefined for a message without data
 */
export function stubMessages(
  { message, event, reason }: { readonly message: Message; readonly event: RecordedEvent; readonly reason: StubReason },
  { prefix }: { readonly prefix: string },
): readonly [Message, Message] | undefined {
  if (message.value === null) return undefined;
  const { data, old_data: _, ...rest } = JSON.parse(message.value) as { readonly [name: string]: Json };
  if (data === undefined) return undefined;
  const own = `/api/admin/audit/${event.id}`;
  const href = message.topic === contentChangesTopic(prefix) ? `${own}/change` : own;
  const stub: Stub = { reason, bytes: Buffer.byteLength(message.value), href };
  const sent = {
    ...message,
    value: JSON.stringify({ ...rest, stub }),
    headers: { ...message.headers, [DATAREF]: href },
  };
  const letter = {
    ...sent,
    topic: deadLetterTopic(message.topic),
    headers: { ...sent.headers, 'x-origin-topic': message.topic, 'x-group': `${prefix}.relay`, 'x-error': reason },
  };
  return [sent, letter];
}
