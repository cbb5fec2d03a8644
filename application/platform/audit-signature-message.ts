import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { signatureDigest } from '../../domain/platform/audit-chain.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { Message } from '../ports/message-bus.ts';
import { cloudEventHeaders } from './cloud-event.ts';
import { auditSignaturesTopic } from './topics.ts';

/** Value of a message on `<prefix>.audit.signatures`. A line of a file of anchors is the same. */
export type AuditSignatureValue = {
  readonly tenant: string;
  readonly position: GlobalPosition;
  /** The signed range as a compact JWS. */
  readonly jws: string;
};

/**
 * Encodes the message of an audit signature. The key has the digest of the signature, so that no later message replaces
 * it on the compacted topic.
 * @returns no messages for any other event
 */
export function encodeAuditSignature(event: RecordedEvent, prefix: string): readonly Message[] {
  const { jws } = event.data;
  if (categoryOf(event.stream) !== 'audit' || event.type !== 'AuditSealed' || typeof jws !== 'string') return [];
  const { tenant } = event.metadata;
  const value: AuditSignatureValue = { tenant, position: event.position, jws };
  return [
    {
      topic: auditSignaturesTopic(prefix),
      key: `${tenant}/${signatureDigest(jws)}`,
      value: JSON.stringify(value),
      headers: cloudEventHeaders(event),
    },
  ];
}
