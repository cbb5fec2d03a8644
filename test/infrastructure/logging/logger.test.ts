import { expect } from 'chai';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createBufferedOutput } from '../../../infrastructure/logging/buffered-output.ts';
import { type LogLevel, createLogger } from '../../../infrastructure/logging/create-logger.ts';
import { redact } from '../../../infrastructure/logging/redact.ts';
import { useDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';

function recorded(format: 'json' | 'pretty', level: LogLevel = 'info') {
  const stream = new PassThrough();
  let text = '';
  stream.setEncoding('utf8').on('data', (data: string) => (text += data));
  const lines = (count: number) =>
    eventually(() => {
      const found = text.split('\n').slice(0, -1);
      expect(found.length).to.be.at.least(count);
      return found;
    });
  return { logger: createLogger({ level, format, stream }), lines };
}

describe('the logger', () => {
  it('writes one line of JSON for each call, with the fields of a child logger', async () => {
    const { logger, lines } = recorded('json');
    logger
      .child({ request_id: 'r1', correlation_id: 'c1' })
      .info('created', { count: 2, level: 'fake', message: 'fake' });
    const [line = ''] = await lines(1);
    const parsed = JSON.parse(line);
    expect(parsed).to.include({ level: 'info', message: 'created', request_id: 'r1', correlation_id: 'c1', count: 2 });
    expect(new Date(parsed.timestamp).toISOString()).to.equal(parsed.timestamp);
  });
  it('writes no line below its level', async () => {
    const { logger, lines } = recorded('json', 'warn');
    logger.debug('no');
    logger.info('no');
    logger.warn('yes');
    logger.error('yes');
    expect((await lines(2)).map((line) => /"level":"(\w+)"/.exec(line)?.[1])).to.deep.equal(['warn', 'error']);
  });
  it('escapes line breaks in a message', async () => {
    const { logger, lines } = recorded('json');
    logger.info('one\n{"level":"error","message":"forged"}');
    logger.info('two');
    expect(await lines(2)).to.have.length(2);
  });
  it('writes readable text with the stack of an error', async () => {
    const { logger, lines } = recorded('pretty');
    logger.error('failed', { route: '/x', error: new Error('boom') });
    const text = (await lines(2)).join('\n');
    expect(text).to.match(/\d\d:\d\d:\d\d\.\d{3} .*error.* failed route=\/x\nError: boom\n +at /);
  });
});

describe('redaction', () => {
  it('replaces the values of secret members at any depth', () => {
    const secrets = {
      password: 'p',
      Authorization: 'a',
      nested: [{ raw_key: 'r', apiKey: 'k', refresh_token: 't', cookie: 'c', ENCRYPTION_KEY: 'e', client_secret: 's' }],
    };
    expect(JSON.stringify(redact(secrets))).to.not.match(/"[parktces]"[,}]/);
    expect(redact({ key_id: 'k1', tokens: 3, retry: true, route: '/x' })).to.deep.equal({
      key_id: 'k1',
      tokens: 3,
      retry: true,
      route: '/x',
    });
  });
  it('replaces credentials in texts and errors', () => {
    const error = new Error('connect postgres://app:hunter2@db/x failed', {
      cause: new Error('Bearer abc.def.ghi refused'),
    });
    const text = JSON.stringify(redact({ error, note: `sent svc_${'a'.repeat(40)}` }));
    expect(text).to.contain('postgres://[redacted]@db/x').and.contain('"name":"Error"');
    for (const secret of ['hunter2', 'abc.def', 'aaaaaaaa']) expect(text).to.not.contain(secret);
  });
  it('removes all members of an error except name, message, code and stack', () => {
    const error = Object.assign(new Error('duplicate'), {
      code: '23505',
      detail: 'Key (email)=(a@b.c)',
      parameters: ['a@b.c'],
    });
    expect(JSON.stringify(redact(error)))
      .to.contain('23505')
      .and.not.contain('a@b.c');
  });
  it('handles cyclic values, bigints, dates and bytes', () => {
    const cycle: Record<string, unknown> = { big: 1n, when: new Date(0), bytes: Buffer.from('x') };
    cycle['self'] = cycle;
    expect(() => JSON.stringify(redact(cycle))).to.not.throw();
  });
});

describe('the buffered output', () => {
  const directory = useDirectory();

  it('writes lines in order, and the buffered rest synchronously on flushNow', async () => {
    const file = join(directory(), 'out');
    const descriptor = openSync(file, 'w');
    const output = createBufferedOutput({ descriptor });
    const line = (at: number) => `${at} ${'x'.repeat(100)}\n`;
    for (let at = 0; at < 5_000; at += 1) output.write(line(at));
    const all = Array.from({ length: 5_000 }, (_, at) => line(at)).join('');
    await eventually(() => expect(readFileSync(file, 'utf8')).to.equal(all));
    output.write('a\n');
    output.write('b\n');
    output.flushNow();
    expect(readFileSync(file, 'utf8').slice(all.length)).to.contain('b\n');
    closeSync(descriptor);
  });
});
