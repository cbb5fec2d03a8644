import { expect } from 'chai';
import { createClientAddress } from '../../../api/http/client-address.ts';

const PERSON = '203.0.113.7';
const CONSOLE = '198.51.100.1';

describe('the client\'s address of a request of the console', () => {
  const without = createClientAddress([]);
  const behindProxy = createClientAddress(['10.0.0.0/8']);

  it('is the one that the console names', () => {
    expect(without({ peer: CONSOLE, forwarded: PERSON, fromConsole: true })).to.equal(PERSON);
    expect(without({ peer: `::ffff:${CONSOLE}`, forwarded: '2001:db8::1', fromConsole: true })).to.equal('2001:db8::1');
  });

  it('is the console\'s where it names none, or nothing that is an address', () => {
    expect(without({ peer: CONSOLE, forwarded: undefined, fromConsole: true })).to.equal(CONSOLE);
    expect(without({ peer: CONSOLE, forwarded: 'somebody', fromConsole: true })).to.equal(CONSOLE);
  });

  it('is the last of several: what stands before it the person may have written', () => {
    expect(without({ peer: CONSOLE, forwarded: `192.0.2.99, ${PERSON}`, fromConsole: true })).to.equal(PERSON);
  });

  it('stands before the console\'s own, which a trusted proxy between the two adds', () => {
    expect(behindProxy({ peer: '10.1.2.3', forwarded: `192.0.2.99, ${PERSON}, ${CONSOLE}`, fromConsole: true })).to.equal(PERSON);
  });

  it('is the peer\'s without the key, whatever the header says', () => {
    expect(without({ peer: CONSOLE, forwarded: PERSON, fromConsole: false })).to.equal(CONSOLE);
    expect(behindProxy({ peer: CONSOLE, forwarded: PERSON, fromConsole: false })).to.equal(CONSOLE);
    expect(behindProxy({ peer: '10.1.2.3', forwarded: `${PERSON}, ${CONSOLE}`, fromConsole: false })).to.equal(CONSOLE);
  });
});
