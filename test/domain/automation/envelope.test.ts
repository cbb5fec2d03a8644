import { expect } from 'chai';
import { trimEnvelope } from '../../../domain/automation/envelope.ts';

describe('the envelope of a webhook request', () => {
  it('keeps an included field that has the name of an object property, such as __proto__', () => {
    const envelope = {
      event: 'after_create',
      schema: 'a',
      data: JSON.parse('{"__proto__": 1, "constructor": 2, "b": 3}') as Record<string, number>,
      timestamp: 't',
    };
    expect(
      JSON.stringify(trimEnvelope(envelope, { include_fields: ['__proto__', 'b'], exclude_fields: [] }).data),
    ).to.equal('{"__proto__":1,"b":3}');
  });
});
