import { expect } from 'chai';
import { addComment, commentDecider, deleteComment } from '../../../domain/content/comment.ts';
import type { CommentState } from '../../../domain/content/comment.ts';

const author = { kind: 'user', id: 'u1' } as const;
const other = { kind: 'user', id: 'u2' } as const;
const written = { entryId: 'e1', body: 'Hello', parent: undefined, actor: author };
const deletion = { entryId: 'e1', actor: author, administers: false };

describe('comment', () => {
  const there: CommentState = addComment(undefined, written).reduce(commentDecider.evolve, commentDecider.initialState());
  const gone = deleteComment(there, deletion).reduce(commentDecider.evolve, there);

  it('is added with what it answers', () => {
    expect(addComment(undefined, { ...written, parent: 'c0' })).to.deep.equal([{ type: 'CommentAdded', data: { entry_id: 'e1', body: 'Hello', parent: 'c0' }, actor: author }]);
    expect(there).to.deep.equal({ entryId: 'e1', author, deleted: false });
    expect(() => addComment(there, written)).to.throw().with.property('code', 'conflict');
  });

  it('is deleted by its author and by who administers, once', () => {
    expect(gone).to.include({ deleted: true });
    expect(deleteComment(there, { ...deletion, actor: other, administers: true })).to.have.length(1);
    expect(() => deleteComment(there, { ...deletion, actor: other })).to.throw().with.property('code', 'permission_denied');
    expect(() => deleteComment(there, { ...deletion, actor: { kind: 'api_key', id: 'u1' } })).to.throw().with.property('code', 'permission_denied');
    for (const state of [gone, undefined]) expect(() => deleteComment(state, deletion)).to.throw().with.property('code', 'comment_not_found');
    expect(() => deleteComment(there, { ...deletion, entryId: 'e2' })).to.throw().with.property('code', 'comment_not_found');
  });
});
