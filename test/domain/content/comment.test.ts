import { expect } from 'chai';
import type { AttributedCommentEvent } from '../../../domain/content/comment-events.ts';
import { type CommentCommand, commentDecider } from '../../../domain/content/comment.ts';
import { given } from '../../support/given.ts';

const author = { kind: 'user', id: 'u1' } as const;
const other = { kind: 'user', id: 'u2' } as const;
const add: CommentCommand = { kind: 'add', entryId: 'e1', body: 'Hello', parent: undefined, actor: author };
const remove = { kind: 'delete', entryId: 'e1', actor: author, administers: false } as const;

describe('a comment', () => {
  const added: AttributedCommentEvent = {
    type: 'CommentAdded',
    data: { entry_id: 'e1', body: 'Hello' },
    actor: author,
  };
  const deletedBy = (actor: AttributedCommentEvent['actor']): AttributedCommentEvent => ({
    type: 'CommentDeleted',
    data: { entry_id: 'e1' },
    actor,
  });
  const deleted = deletedBy(author);

  it('is added with the comment that it answers', () => {
    given(commentDecider, [])
      .when({ ...add, parent: 'c0' })
      .thenAppends([{ ...added, type: 'CommentAdded', data: { entry_id: 'e1', body: 'Hello', parent: 'c0' } }]);
  });
  it('is added once', () => {
    given(commentDecider, [added]).when(add).thenRefuses('conflict');
  });
  it('needs a body of at most 10,000 characters', () => {
    for (const body of ['', ' \n', 'x'.repeat(10_001)])
      given(commentDecider, [])
        .when({ ...add, body })
        .thenRefuses('validation_failed');
  });
  it('is attributed to the actor who added it', () => {
    const state = commentDecider.evolve(commentDecider.initialState(), added);
    expect(state).to.deep.equal({ entryId: 'e1', author, deleted: false });
    expect(commentDecider.evolve(state, deleted)).to.include({ deleted: true });
  });

  it('is deleted by its author', () => {
    given(commentDecider, [added]).when(remove).thenAppends([deleted]);
  });
  it('is deleted by an administrator', () => {
    given(commentDecider, [added])
      .when({ ...remove, actor: other, administers: true })
      .thenAppends([deletedBy(other)]);
  });
  it('is not deleted by anyone else, such as an API key with the id of the author', () => {
    for (const actor of [other, { kind: 'api_key', id: 'u1' } as const])
      given(commentDecider, [added])
        .when({ ...remove, actor })
        .thenRefuses('permission_denied');
  });
  it('is not found before it was added, after it was deleted, and on another entry', () => {
    given(commentDecider, []).when(remove).thenRefuses('comment_not_found');
    given(commentDecider, [added, deleted]).when(remove).thenRefuses('comment_not_found');
    given(commentDecider, [added])
      .when({ ...remove, entryId: 'e2' })
      .thenRefuses('comment_not_found');
  });
});
