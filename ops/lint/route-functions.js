import path from 'node:path';

/**
 * Keeps the exported functions of all `x-routes.ts` in one form: `xRoutes(dependencies: XRouteDependencies)`. A file
 * may use the type of a family of files, such as `EntryRouteDependencies`. Input comes before `dependencies`.
 */
export const routeFunctions = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      name: 'a file {{ file }} exports the function {{ expected }}',
      parameter: 'the last parameter is `dependencies` and has a type …RouteDependencies',
    },
  },
  create(context) {
    const file = path.basename(context.filename);
    const expected = file.replace('.ts', '').replace(/-./g, (text) => text.charAt(1).toUpperCase());
    const isRouteFunction = ({ id }) => id?.name.endsWith('Routes') === true;
    let routeFunction;
    return {
      'ExportNamedDeclaration > FunctionDeclaration'(node) {
        if (!isRouteFunction(node)) return;
        routeFunction = node;
        if (node.id.name.toLowerCase() !== expected.toLowerCase())
          context.report({ node: node.id, messageId: 'name', data: { file, expected } });
        const last = node.params.at(-1);
        if (!last) return;
        const type = last.typeAnnotation?.typeAnnotation;
        const hasForm =
          last.type === 'Identifier' &&
          last.name === 'dependencies' &&
          type?.typeName?.name?.endsWith('RouteDependencies');
        if (hasForm !== true) context.report({ node: last, messageId: 'parameter' });
      },
      'Program:exit'(node) {
        if (!routeFunction) context.report({ node, messageId: 'name', data: { file, expected } });
      },
    };
  },
};
