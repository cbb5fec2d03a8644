import { expect } from 'chai';
import { categoryOf, parseStream, partsOf, streamName } from '../../domain/stream.ts';

describe('the name of a stream', () => {
  const parts = { category: 'comment', tenant: 'acme', id: 'c-1.x' } as const;

  it('is parsed into the parts that it was made of', () => {
    expect(parseStream(streamName(parts))).to.deep.equal(parts);
  });
  it('is not parsed for a stream of another system', () => {
    for (const stream of ['comment', 'comment-acme', 'comment-Acme.c', '$ce-comment', 'order-acme.1'])
      expect(parseStream(stream), stream).to.equal(undefined);
  });
  it('has the category before its first hyphen', () => {
    expect(categoryOf(streamName(parts))).to.equal('comment');
    expect(categoryOf('$streams')).to.equal('$streams');
  });
  it('has the parts of one of the expected categories', () => {
    expect(partsOf(streamName(parts), 'comment')).to.deep.equal(parts);
    expect(partsOf(streamName(parts), 'entry', 'comment')).to.deep.equal(parts);
  });
  it('is refused when the category is another one, or when it is of another system', () => {
    expect(() => partsOf('entry-acme.e', 'comment')).to.throw(TypeError, 'not a stream of comment: entry-acme.e');
    expect(() => partsOf('order-acme.1', 'user', 'tenant')).to.throw(
      TypeError,
      'not a stream of user, tenant: order-acme.1',
    );
  });
});
