/** The order of the members of `Route` (`api/http/route.ts`). */
const ORDER = [
  'api',
  'method',
  'path',
  'operation',
  'summary',
  'tag',
  'access',
  'grants',
  'params',
  'notFound',
  'query',
  'body',
  'bodyOptional',
  'rawBody',
  'bodyRefusal',
  'malformedJson',
  'maxBodyBytes',
  'tooLarge',
  'responses',
  'streamed',
  'refusals',
  'requestHeaders',
  'responseHeaders',
  'idempotent',
  'limit',
  'feature',
  'capability',
  'consume',
  'precheck',
  'reads',
  'handler',
];

/**
 * Keeps the members of every `route({ … })` in the order of the type `Route`, so that all declarations look alike.
 * Members after a spread are ordered by themselves, because they may override what was spread.
 */
export const routeMembers = {
  meta: {
    type: 'layout',
    fixable: 'code',
    schema: [],
    messages: { order: 'the members of a route are declared in the order of the type Route: {{ names }}' },
  },
  create(context) {
    const { sourceCode } = context;

    /** The text of a member with the comments before it. */
    function startOf(member) {
      return (sourceCode.getCommentsBefore(member)[0] ?? member).range[0];
    }

    function checkMembers(members) {
      const sorted = members.toSorted((a, b) => rankOf(a) - rankOf(b));
      if (members.every((member, index) => member === sorted[index])) return;
      context.report({
        node: members[0],
        messageId: 'order',
        data: { names: sorted.map(({ key }) => key.name).join(', ') },
        fix: (fixer) =>
          members.map((member, index) =>
            fixer.replaceTextRange(
              [startOf(member), member.range[1]],
              sourceCode.text.slice(startOf(sorted[index]), sorted[index].range[1]),
            ),
          ),
      });
    }

    return {
      "CallExpression[callee.name='route'] > ObjectExpression"({ properties }) {
        let members = [];
        for (const property of properties) {
          if (property.type === 'Property' && property.key.type === 'Identifier') members.push(property);
          else {
            checkMembers(members);
            members = [];
          }
        }
        checkMembers(members);
      },
    };
  },
};

function rankOf({ key }) {
  const rank = ORDER.indexOf(key.name);
  return rank < 0 ? ORDER.length : rank;
}
