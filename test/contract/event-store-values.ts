import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import type { Expected } from '../../application/ports/event-store.ts';
import type { NewEvent } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ContractContext } from './event-store-context.ts';
import { codeOf, collect, newEvent, newStream } from './event-store-fixtures.ts';

/** The values that an event may have, and those that are refused. */
export function valueCases(context: ContractContext): void {
  const { store } = context;
  const append = (stream: string, events: readonly NewEvent[], expected: Expected) =>
    store().append(stream, events, { expected });
  const read = (stream: string) => collect(store().readStream(stream));

  describe('the values of an event', () => {
    async function roundTrip(data: JsonObject, type = 'EntryCreated') {
      const stream = newStream();
      const event = newEvent({ data, type });
      await append(stream, [event], 'no_stream');
      const [recorded] = await read(stream);
      expect(JSON.stringify(recorded?.data)).to.equal(JSON.stringify(data));
      expect(recorded?.type).to.equal(type);
      expect(recorded?.metadata).to.deep.equal(event.metadata);
    }

    it('are returned as they were written', async () => {
      const stream = newStream();
      const event = newEvent();
      const { position } = await append(stream, [event], 'no_stream');
      const [recorded] = await read(stream);
      const { recorded_at: recordedAt, ...rest } = recorded!;
      expect(rest).to.deep.equal({ ...event, stream, revision: 0, position });
      expect(recordedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it('may be an empty object', () => roundTrip({}));

    it('may be of every JSON type', () =>
      roundTrip({
        null: null,
        true: true,
        false: false,
        zero: 0,
        negative: -1.5,
        small: 5e-324,
        large: 1.7976931348623157e308,
        list: [1, [], {}, [null]],
        nested: { a: { b: [] } },
      }));

    it('may contain any Unicode text, including astral characters, control characters and NUL', () =>
      roundTrip({
        text: 'Ünïcödé – 漢字 – 🦉 – \u202e – \u0000 – \u001e – \u001f – \\ – " – \' – {} – \n',
        '🔑\u0000': 'key',
      }));

    it('may contain lone surrogates', () => roundTrip({ text: 'a\ud800b', other: '\udfff' }));

    it('keep the order of members', () => roundTrip({ z: 1, a: 2, m: { y: 1, b: 2 } }));

    it('may have 512 KiB', () => roundTrip({ text: 'päge '.repeat(87_000) }));

    it('may contain text that looks like SQL or JSON', () =>
      roundTrip({ text: `'; drop table events; -- {"a":[1,2]} $1 {a,b}` }));

    it('keep unknown members of the metadata', async () => {
      const stream = newStream();
      const event = newEvent();
      const metadata = { ...event.metadata, traceparent: '00-abc-def-01' };
      await append(stream, [{ ...event, metadata }], 'no_stream');
      expect((await read(stream)).at(0)?.metadata).to.deep.equal(metadata);
    });

    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const notJson: readonly [string, unknown][] = [
      ['a bigint', { value: 1n }],
      ['undefined', { value: undefined }],
      ['NaN', { value: NaN }],
      ['infinity', { value: Infinity }],
      ['a date', { value: new Date(0) }],
      ['a function', { value: () => 1 }],
      ['a map', { value: new Map() }],
      ['a cycle', circular],
      ['a list instead of an object', [1, 2]],
    ];
    for (const [name, data] of notJson) {
      it(`are refused unless they are JSON: ${name}`, async () => {
        const stream = newStream();
        const event = { ...newEvent(), data: data as JsonObject };
        expect(await codeOf(append(stream, [event], 'no_stream'))).to.equal('invalid_append');
        expect(await read(stream)).to.deep.equal([]);
      });
    }

    it('are refused with an id that is not a UUID', async () => {
      expect(await codeOf(append(newStream(), [newEvent({ id: 'one' })], 'any'))).to.equal('invalid_append');
    });

    it('are refused for a stream without a name', async () => {
      expect(await codeOf(append('', [newEvent()], 'any'))).to.equal('invalid_append');
    });

    it('are refused for a stream name with control characters', async () => {
      expect(await codeOf(append('entry-default.a\u001eb', [newEvent()], 'any'))).to.equal('invalid_append');
    });

    it('are refused with an invalid expected revision', async () => {
      expect(await codeOf(append(newStream(), [newEvent()], -1))).to.equal('invalid_append');
      expect(await codeOf(append(newStream(), [newEvent()], 1.5))).to.equal('invalid_append');
    });

    it('are accepted for stream names with quotes, percent signs and capital letters', async () => {
      const stream = `entry-default.${uuidv7()} 'x' "y" %2F ÄÖ {a,b}`;
      await append(stream, [newEvent()], 'no_stream');
      expect((await read(stream)).at(0)?.stream).to.equal(stream);
      expect(await read(stream.toLowerCase())).to.deep.equal([]);
    });
  });
}
