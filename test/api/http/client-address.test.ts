import { expect } from 'chai';
import { createClientAddress } from '../../../api/http/client-address.ts';

const PERSON = '203.0.113.7';
const CONSOLE = '198.51.100.1';

describe('the client address of a request from the console', () => {
  const without = createClientAddress({ trustedProxies: [] });
  const behindProxy = createClientAddress({ trustedProxies: ['10.0.0.0/8'] });

  it('is the address that the console forwards', () => {
    expect(without({ peer: CONSOLE, forwarded: PERSON, fromConsole: true })).to.equal(PERSON);
    expect(without({ peer: `::ffff:${CONSOLE}`, forwarded: '2001:db8::1', fromConsole: true })).to.equal('2001:db8::1');
  });

  it("is the console's own address when it forwards none, or no valid one", () => {
    expect(without({ peer: CONSOLE, forwarded: undefined, fromConsole: true })).to.equal(CONSOLE);
    expect(without({ peer: CONSOLE, forwarded: 'somebody', fromConsole: true })).to.equal(CONSOLE);
  });

  it('is the last of several addresses: the person controls the ones before it', () => {
    expect(without({ peer: CONSOLE, forwarded: `192.0.2.99, ${PERSON}`, fromConsole: true })).to.equal(PERSON);
  });

  it("is the one before the console's own, which a trusted proxy adds", () => {
    expect(
      behindProxy({ peer: '10.1.2.3', forwarded: `192.0.2.99, ${PERSON}, ${CONSOLE}`, fromConsole: true }),
    ).to.equal(PERSON);
  });

  it("is the peer's address without a console key, independent of the header", () => {
    expect(without({ peer: CONSOLE, forwarded: PERSON, fromConsole: false })).to.equal(CONSOLE);
    expect(behindProxy({ peer: CONSOLE, forwarded: PERSON, fromConsole: false })).to.equal(CONSOLE);
    expect(behindProxy({ peer: '10.1.2.3', forwarded: `${PERSON}, ${CONSOLE}`, fromConsole: false })).to.equal(CONSOLE);
  });
});
