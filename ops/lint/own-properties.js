import ts from 'typescript';

/**
 * Refuses `record[key]` and `key in record` when the key is any string: both find what every object inherits, such as
 * `constructor`. A key whose type is a union of names, an array, and an assignment to `record[key]` are allowed.
 */
export const ownProperties = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      read: 'read it with ownValue (domain/own-value.ts) or keep a Map: the key may be the name of an inherited property',
      in: 'use Object.hasOwn: `in` finds inherited properties',
    },
  },
  create(context) {
    const services = context.sourceCode.parserServices;

    function isAnyString(node) {
      const type = services.getTypeAtLocation(node);
      const parts = type.isUnion() ? type.types : [type];
      return parts.some((part) => (part.flags & ts.TypeFlags.String) !== 0);
    }

    function isWrite(node) {
      const { parent } = node;
      return (
        (parent.type === 'AssignmentExpression' && parent.left === node && parent.operator === '=') ||
        (parent.type === 'UnaryExpression' && parent.operator === 'delete')
      );
    }

    return {
      'MemberExpression[computed=true]'(node) {
        if (node.property.type !== 'Literal' && !isWrite(node) && isAnyString(node.property))
          context.report({ node, messageId: 'read' });
      },
      "BinaryExpression[operator='in']"(node) {
        if (node.left.type !== 'Literal' && node.left.type !== 'PrivateIdentifier' && isAnyString(node.left))
          context.report({ node, messageId: 'in' });
      },
    };
  },
};
