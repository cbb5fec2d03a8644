import type { TSchema } from '@sinclair/typebox';
import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

/**
 * One reason why a value is invalid. `field` is a dotted path; empty: the value itself. `keyword` is that of JSON
 * Schema.
 */
export type Problem = { readonly field: string; readonly message: string; readonly keyword: string };

/** Validates a value; coerces it and fills in defaults in place. @returns the problems, undefined for a valid value */
export type Check = (value: unknown) => readonly Problem[] | undefined;

const MAX_PROBLEMS = 100;

const STRICT = {
  strictSchema: true,
  strictNumbers: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  useDefaults: true,
} as const;

/** For values that arrive as text: query and path parameters. */
const coercing = withFormats(new Ajv({ ...STRICT, coerceTypes: 'array' }));
const exact = withFormats(new Ajv(STRICT));
/**
 * Lists every problem of a small body. The first validation stops at one problem, so that a huge hostile body costs
 * little.
 */
const thorough = withFormats(new Ajv({ ...STRICT, allErrors: true }));

/** Compiles the validation of query or path parameters. */
export function compileCoercing(schema: TSchema): Check {
  const validate = compile(coercing, schema);
  return (value) => (validate(value) ? undefined : problemsOf(validate.errors));
}

/** Compiles the validation of a JSON body. `bytes` is the length of its text; bodies over 64 KiB report one problem. */
export function compileBody(schema: TSchema): (value: unknown, bytes: number) => readonly Problem[] | undefined {
  const validate = compile(exact, schema);
  let all: ValidateFunction | undefined;
  return (value, bytes) => {
    if (validate(value)) return undefined;
    if (bytes > 65_536) return problemsOf(validate.errors);
    all ??= compile(thorough, schema);
    all(value);
    return problemsOf(all.errors ?? validate.errors);
  };
}

function compile(ajv: Ajv, schema: TSchema): ValidateFunction {
  const plain: AnySchemaObject = schema;
  return ajv.compile(plain);
}

function withFormats(ajv: Ajv): Ajv {
  formats(ajv);
  return ajv;
}

function problemsOf(errors: readonly ErrorObject[] | null | undefined): readonly Problem[] {
  const problems = (errors ?? []).slice(0, MAX_PROBLEMS).map(toProblem);
  return problems.length > 0 ? problems : [{ field: '', message: 'is invalid', keyword: '' }];
}

function toProblem(error: ErrorObject): Problem {
  const at = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty }: { missingProperty?: unknown; additionalProperty?: unknown } =
    error.params;
  if (typeof missingProperty === 'string')
    return { field: [...at, missingProperty].join('.'), message: 'is required', keyword: error.keyword };
  if (typeof additionalProperty === 'string')
    return {
      field: [...at, additionalProperty.slice(0, 100)].join('.'),
      message: 'is not known',
      keyword: error.keyword,
    };
  return { field: at.join('.'), message: error.message ?? 'is invalid', keyword: error.keyword };
}
