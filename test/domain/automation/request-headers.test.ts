import { expect } from 'chai';
import {
  isSecretHeader,
  problemOfHeaders,
  redactHeaders,
  restoreHeaders,
} from '../../../domain/automation/request-headers.ts';

describe('the extra headers of a webhook', () => {
  it('are redacted when their name suggests a secret, or all of them on request', () => {
    for (const name of [
      'Authorization',
      'X-Token',
      'my-secret',
      'X-API-Key',
      'Signature',
      'password',
      'Session-Id',
      'Cookie',
    ])
      expect(isSecretHeader(name), name).to.equal(true);
    expect(redactHeaders({ 'X-Key': 'a', 'X-Plain': 'b' }, false)).to.deep.equal({
      'X-Key': '[redacted]',
      'X-Plain': 'b',
    });
    expect(redactHeaders({ 'X-Plain': 'b' }, true)).to.deep.equal({ 'X-Plain': '[redacted]' });
  });

  it('get their stored values back by name, ignoring case, and are refused when no value is stored', () => {
    expect(restoreHeaders({ 'x-key': '[redacted]', a: 'b' }, { 'X-Key': 'stored' })).to.deep.equal({
      'x-key': 'stored',
      a: 'b',
    });
    expect(restoreHeaders({ 'x-other': '[redacted]' }, { 'X-Key': 'stored' })).to.equal(undefined);
  });

  it('are refused when two names differ only in case', () => {
    expect(problemOfHeaders({ 'X-A': '1', 'x-a': '2' })).to.be.a('string');
  });
});
