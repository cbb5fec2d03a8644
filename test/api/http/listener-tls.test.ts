import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Listener, startListener } from '../../../api/http/listener.ts';
import { watchTls } from '../../../infrastructure/composition/watch-tls.ts';
import { recordNotRun } from '../../support/adapters.ts';
import { useDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('TLS certificates', () => {
  const directory = useDirectory();
  let listener: Listener;
  let watching: { stop(): void };
  const files = () => ({ tlsCertFile: join(directory(), 'cert.pem'), tlsKeyFile: join(directory(), 'key.pem') });

  /** Creates a self-signed certificate for a name. Replaces the previous one. */
  async function issue(name: string): Promise<void> {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-keyout',
        join(directory(), 'new-key.pem'),
        '-out',
        join(directory(), 'new-cert.pem'),
      ],
      { stdio: 'ignore' },
    );
    await rename(join(directory(), 'new-key.pem'), files().tlsKeyFile);
    await rename(join(directory(), 'new-cert.pem'), files().tlsCertFile);
  }

  function served(options: { maxVersion?: 'TLSv1.1' } = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(
        {
          port: listener.port,
          host: '127.0.0.1',
          rejectUnauthorized: false,
          ...options,
          ...(options.maxVersion ? { minVersion: 'TLSv1' as const } : {}),
        },
        () => {
          const { CN } = socket.getPeerCertificate().subject;
          socket.end();
          resolve(String(CN));
        },
      );
      socket.once('error', reject);
    });
  }

  before(async function () {
    try {
      execFileSync('openssl', ['version'], { stdio: 'ignore' });
    } catch {
      await recordNotRun('TLS certificates', 'openssl is not installed');
      this.skip();
    }
    await issue('first.test');
    const [cert, key] = await Promise.all([
      readFile(files().tlsCertFile, 'utf8'),
      readFile(files().tlsKeyFile, 'utf8'),
    ]);
    listener = await startListener({
      app: (_request, response) => response.end('{}'),
      address: '127.0.0.1:0',
      tls: { cert, key },
    });
    watching = watchTls({ settings: files(), listeners: [listener], logger: recordingLogger(), everyMs: 20 });
  });
  after(async () => {
    watching.stop();
    await listener.close();
  });

  it('are served from the start, with TLS 1.2 or later', async () => {
    expect(await served()).to.equal('first.test');
    expect(await rejectionOf(served({ maxVersion: 'TLSv1.1' }))).to.be.instanceOf(Error);
  });

  it('are renewed without a restart', async () => {
    await issue('second.test');
    await eventually(async () => {
      expect(await served()).to.equal('second.test');
    });
  });
});
