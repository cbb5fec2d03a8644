import { expect } from 'chai';
import fc from 'fast-check';
import { decodeEvent, encodeEvent } from '../../../application/platform/event-message.ts';
import { hasCode } from '../../../domain/errors.ts';
import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { CATEGORIES } from '../../../domain/stream.ts';
import { recordedEvent } from '../../support/recorded-events.ts';

const moment = fc
  .date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const word = fc.string({ minLength: 1, unit: 'binary' });
const jsonObject = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const anyEvent: fc.Arbitrary<RecordedEvent> = fc.record({
  id: fc.uuid(),
  type: word,
  stream: fc.tuple(fc.constantFrom(...CATEGORIES), fc.uuid()).map(([category, id]) => `${category}-acme.${id}`),
  revision: fc.nat(),
  position: fc.bigInt({ min: 0n, max: 10n ** 20n - 1n }).map(positionFrom),
  recorded_at: moment,
  data: jsonObject,
  metadata: fc.record({
    tenant: fc.constant('acme'),
    actor: fc.record({
      kind: fc.constantFrom('user', 'api_key', 'admin_token', 'external', 'system', 'anonymous'),
      id: fc.string(),
    }),
    $correlationId: word,
    $causationId: word,
    occurred_at: moment,
    schema_version: fc.integer({ min: 1, max: 99 }),
  }),
});

describe('messages of events', () => {
  it('decode to the event that was encoded', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const message = encodeEvent(event, 'p');
        if (!message) throw new Error('no message');
        expect(decodeEvent(message)).to.deep.equal(event);
      }),
    );
  });

  it('carry the W3C traceparent of the append when it was traced', () => {
    const plain = recordedEvent();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const event = { ...plain, metadata: { ...plain.metadata, $traceparent: traceparent } };
    const message = encodeEvent(event, 'p');
    expect(message?.headers).to.include({ traceparent });
    expect(message && decodeEvent(message)).to.deep.equal(event);
    expect(encodeEvent(plain, 'p')?.headers).to.not.have.property('traceparent');
  });

  it('go to the topic of their category, with the stream as key', () => {
    const event = recordedEvent({ stream: 'api_key-acme.k1' });
    expect(encodeEvent(event, 'palimpsest')).to.include({ topic: 'palimpsest.events.api_key', key: 'api_key-acme.k1' });
  });

  it('contain exactly the members of the contract', () => {
    const message = encodeEvent(recordedEvent({ data: { a: [1, null] } }), 'p');
    expect(JSON.parse(message?.value ?? '')).to.deep.equal({
      id: '01890000-0000-7000-8000-000000000001',
      type: 'EntryCreated',
      stream: 'entry-acme.01890000-0000-7000-8000-0000000000aa',
      revision: 0,
      position: '00000000000000000001',
      occurred_at: '2026-01-02T03:04:05.000Z',
      recorded_at: '2026-01-02T03:04:05.678Z',
      tenant: 'acme',
      actor: { kind: 'user', id: 'u1' },
      correlation_id: 'correlation-1',
      causation_id: 'causation-1',
      schema_version: 1,
      data: { a: [1, null] },
    });
  });

  it('carry the headers of a CloudEvent in binary mode', () => {
    expect(encodeEvent(recordedEvent(), 'p')?.headers).to.deep.equal({
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: '01890000-0000-7000-8000-000000000001',
      ce_type: 'EntryCreated',
      ce_source: '/tenants/acme',
      ce_subject: 'entry-acme.01890000-0000-7000-8000-0000000000aa',
      ce_time: '2026-01-02T03:04:05.000Z',
      ce_sequence: '00000000000000000001',
      tenant: 'acme',
      correlation_id: 'correlation-1',
      schema_version: '1',
    });
  });

  it('do not exist for events of unknown categories', () => {
    expect(encodeEvent(recordedEvent({ stream: '$settings' }), 'p')).to.equal(undefined);
  });

  it('decode with members that this version does not know', () => {
    const value = JSON.stringify({
      ...(JSON.parse(encodeEvent(recordedEvent(), 'p')?.value ?? '') as object),
      later: 1,
    });
    expect(decodeEvent({ value })).to.deep.equal(recordedEvent());
  });

  it('are refused with message_unreadable when a member is missing or has another type', () => {
    const valid = JSON.parse(encodeEvent(recordedEvent(), 'p')?.value ?? '') as Record<string, unknown>;
    const invalid: (string | null)[] = [null, '', '{', 'null', '[]', '1', '"x"'];
    for (const name of Object.keys(valid)) {
      const { [name]: _, ...rest } = valid;
      invalid.push(
        JSON.stringify(rest),
        JSON.stringify({ ...valid, [name]: null }),
        JSON.stringify({ ...valid, [name]: [1] }),
      );
    }
    invalid.push(
      JSON.stringify({ ...valid, position: '12' }),
      JSON.stringify({ ...valid, revision: -1 }),
      JSON.stringify({ ...valid, actor: { kind: 'robot', id: '1' } }),
    );
    for (const value of invalid)
      expect(
        codeOf(() => decodeEvent({ value })),
        String(value),
      ).to.equal('message_unreadable');
  });

  it('are refused with message_unreadable for every other value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (value) => {
        expect(codeOf(() => decodeEvent({ value }))).to.equal('message_unreadable');
      }),
    );
  });
});

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return hasCode(error, 'message_unreadable') ? 'message_unreadable' : String(error);
  }
}
