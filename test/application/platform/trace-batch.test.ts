import { expect } from 'chai';
import { startBatchSpan } from '../../../application/platform/trace-batch.ts';
import type { SpanOptions, Tracing } from '../../../application/ports/tracing.ts';
import { recordedEvent } from '../../support/recorded-events.ts';

const context = (trace: string, span: string) => `00-${trace.repeat(32)}-${span.repeat(16)}-01`;

describe('the span of a batch', () => {
  function optionsFor(contexts: readonly (string | undefined)[]): SpanOptions {
    const started: SpanOptions[] = [];
    const events = contexts.map(($traceparent, at) => {
      const event = recordedEvent({ number: at + 1 });
      return $traceparent === undefined ? event : { ...event, metadata: { ...event.metadata, $traceparent } };
    });
    const tracing: Tracing = {
      start(_name, options) {
        started.push(options);
        return { traceId: '', traceparent: '', rename: () => undefined, set: () => undefined, end: () => undefined };
      },
    };
    startBatchSpan({ name: 'apply', events }, { tracing });
    return started[0]!;
  }

  it('is a child of the last append when all appends belong to one trace', () => {
    const contexts = [context('a', '1'), context('a', '1'), context('a', '2'), undefined];
    expect(optionsFor(contexts)).to.deep.include({
      parent: context('a', '2'),
      links: [context('a', '1'), context('a', '2')],
    });
  });

  it('has no parent, only links, when the appends belong to several traces', () => {
    const contexts = [context('a', '1'), context('b', '2')];
    expect(optionsFor(contexts)).to.deep.include({ parent: undefined, links: contexts });
  });

  it('links to at most 128 appends, and to none when no append was traced', () => {
    const many = Array.from({ length: 300 }, (_, n) => `00-${'a'.repeat(32)}-${n.toString(16).padStart(16, '0')}-01`);
    expect(optionsFor(many).links).to.have.length(128);
    expect(optionsFor([undefined])).to.deep.include({ parent: undefined, links: [] });
  });
});
