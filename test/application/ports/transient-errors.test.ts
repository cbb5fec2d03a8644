import { expect } from 'chai';
import { isOutage, isTransient, reasonOf } from '../../../application/ports/transient-errors.ts';
import { refusal } from '../../../domain/errors.ts';
import { mayRetry } from '../../../infrastructure/event-store/postgres/failures.ts';

const coded = (code: string, message = 'failed'): Error => Object.assign(new Error(message), { code });

const SHUTDOWN = 'terminating connection due to administrator command';
const TOO_MANY = 'sorry, too many clients already';
const TIMED_OUT = 'canceling statement due to statement timeout';

describe('the classification of errors', () => {
  /** By error: outage, transient, repeatable by the Postgres event store. */
  const table: readonly (readonly [string, unknown, boolean, boolean, boolean])[] = [
    ['unavailable', refusal('unavailable'), true, true, false],
    ['store_unavailable', refusal('store_unavailable'), true, true, false],
    ['outcome_unknown', refusal('outcome_unknown'), true, true, false],
    ['conflict', refusal('conflict'), false, false, false],
    ['lease_lost', refusal('lease_lost'), false, false, false],
    ['ECONNREFUSED', coded('ECONNREFUSED'), true, true, true],
    ['ECONNRESET', coded('ECONNRESET'), true, true, true],
    ['ECONNABORTED', coded('ECONNABORTED'), true, true, true],
    ['EPIPE, which has the form of a SQLSTATE', coded('EPIPE'), true, true, false],
    ['ETIMEDOUT', coded('ETIMEDOUT'), true, true, true],
    ['EHOSTUNREACH', coded('EHOSTUNREACH'), true, true, true],
    ['ENETUNREACH', coded('ENETUNREACH'), true, true, true],
    ['ENOTFOUND', coded('ENOTFOUND'), true, true, true],
    ['EAI_AGAIN', coded('EAI_AGAIN'), true, true, true],
    ['ENOENT', coded('ENOENT'), false, false, true],
    ['08000 connection exception', coded('08000'), true, true, true],
    ['08006 connection failure', coded('08006'), true, true, true],
    ['08P01 protocol violation', coded('08P01'), true, true, true],
    ['25001 active transaction', coded('25001'), false, false, true],
    ['25006 read-only transaction', coded('25006'), true, false, true],
    ['25P02 failed transaction', coded('25P02'), false, false, true],
    ['25P03 idle in transaction', coded('25P03'), false, true, true],
    ['25P04 transaction timeout', coded('25P04'), false, true, true],
    ['40001 serialization failure', coded('40001'), false, true, true],
    ['40P01 deadlock', coded('40P01'), false, true, true],
    ['53100 disk full', coded('53100'), true, true, true],
    ['53300 too many connections', coded('53300'), true, true, true],
    ['53300 as the server reports it', coded('53300', TOO_MANY), true, true, true],
    ['08006 as the driver reports it', coded('08006', 'Connection terminated unexpectedly'), true, true, true],
    ['57014 as the server reports it', coded('57014', TIMED_OUT), false, true, true],
    ['42501 with a message that names a shutdown', coded('42501', SHUTDOWN), false, false, false],
    ['55000 object not in prerequisite state', coded('55000'), false, false, true],
    ['55P03 lock not available', coded('55P03'), false, true, true],
    ['57014 query cancelled', coded('57014'), false, true, true],
    ['57P01 admin shutdown', coded('57P01'), true, true, true],
    ['57P01 as the server reports it', coded('57P01', SHUTDOWN), true, true, true],
    ['57P02 crash shutdown', coded('57P02'), true, true, true],
    ['57P03 cannot connect now', coded('57P03'), true, true, true],
    ['57P04 database dropped', coded('57P04'), false, true, true],
    ['57P05 idle session timeout', coded('57P05'), false, true, true],
    ['58030 I/O error', coded('58030'), false, false, true],
    ['22001 value too long', coded('22001'), false, false, false],
    ['23505 unique violation', coded('23505'), false, false, false],
    ['28P01 wrong password', coded('28P01'), false, false, false],
    ['42501 insufficient privilege', coded('42501'), false, false, false],
    ['42P01 undefined table', coded('42P01'), false, false, false],
    ['54000 program limit exceeded', coded('54000'), false, false, false],
    ['XX000 internal error', coded('XX000'), false, false, false],
    ['a code longer than a SQLSTATE', coded('570014'), false, false, true],
    ['a lost connection', new Error('Connection terminated unexpectedly'), true, true, true],
    ['a connection timeout', new Error('timeout exceeded when trying to connect'), true, true, true],
    ['a statement without an answer in time', new Error('Query read timeout'), true, true, true],
    ['a client error', new Error('Client has encountered a connection error and is not queryable'), true, true, true],
    ['a closed client', new Error('Client was closed and is not queryable'), false, true, true],
    ['a message that quotes another', new Error('read failed: connection terminated'), false, true, true],
    ['any other error', new Error('no'), false, false, true],
    ['a TypeError', new TypeError('no'), false, false, false],
    ['a RangeError', new RangeError('no'), false, false, false],
    ['a system error as a cause', new Error('failed', { cause: coded('ECONNRESET') }), true, false, true],
    ['a harmless cause', new Error('failed', { cause: new Error('no') }), false, false, true],
    ['an object with a code', { code: 'ECONNRESET' }, false, true, true],
    ['a string', 'unavailable', false, false, true],
    ['undefined', undefined, false, false, true],
  ];

  for (const [title, error, outage, transient, repeatable] of table) {
    it(`classifies ${title}`, () => {
      expect({ outage: isOutage(error), transient: isTransient(error), repeatable: mayRetry(error) }).to.deep.equal({
        outage,
        transient,
        repeatable,
      });
    });
  }

  it('finds no outage in causes that form a circle', () => {
    const error = new Error('a');
    error.cause = error;
    expect(isOutage(error)).to.equal(false);
  });
});

describe('the reason of an error', () => {
  it('names the code and the place of a database error and omits its message', () => {
    const error = Object.assign(new Error('duplicate key value violates "a@example.com"'), {
      severity: 'ERROR',
      code: '23505',
      table: 'users',
      constraint: 'users_email',
    });
    expect(reasonOf(error)).to.equal('database error 23505 table users constraint users_email');
  });

  it('gives code and message of a refusal, name and message of an error, and nothing of other values', () => {
    const error = refusal('store_unavailable');
    expect(reasonOf(error)).to.equal(`store_unavailable: ${error.message}`);
    expect(reasonOf(new TypeError('no'))).to.equal('TypeError: no');
    expect(reasonOf('secret')).to.equal('unknown error');
  });
});
