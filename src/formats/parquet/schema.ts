import type { SchemaElement } from 'hyparquet';
import { damaged, unsupported } from './parquet-problem.ts';

/** Max nesting depth of a schema. */
const MAX_LEVELS = 100;
/** Max columns and groups of a schema. */
const MAX_NODES = 20_000;

/** How the children of a group are presented. */
type Shape = 'value' | 'struct' | 'list' | 'map';

/** A column or a group of columns. */
export interface SchemaNode {
  readonly name: string;
  readonly element: SchemaElement;
  readonly shape: Shape;
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
  /** Definition level at which it is present, and repetition level of its elements. */
  readonly definition: number;
  readonly repetition: number;
  readonly children: readonly SchemaNode[];
  /** Indexes of its first leaf and of the leaf after its last one, among the column chunks of a row group. */
  readonly firstLeaf: number;
  readonly endLeaf: number;
}

/** A column of values, and the groups around it from the root (which is left out) inwards. */
export interface Leaf {
  readonly index: number;
  readonly node: SchemaNode;
  /** The groups, then the node itself. */
  readonly path: readonly SchemaNode[];
}

export interface Schema {
  readonly columns: readonly SchemaNode[];
  readonly leaves: readonly Leaf[];
}

/** The tree of a schema. Throws ParquetProblem if it is not a tree, or too large. */
export function readSchema(elements: readonly SchemaElement[]): Schema {
  if (elements.length > MAX_NODES) throw unsupported('has too many columns');
  const leaves: Leaf[] = [];
  let next = 0;
  const read = (above: readonly SchemaNode[], definition: number, repetition: number): SchemaNode => {
    const element = elements[next++];
    if (element === undefined || typeof element.name !== 'string') throw damaged('its schema is incomplete');
    if (above.length > MAX_LEVELS) throw unsupported('is nested too deeply');
    const isRepeated = element.repetition_type === 'REPEATED';
    const isOptional = element.repetition_type === 'OPTIONAL';
    const children: SchemaNode[] = [];
    const node = {
      name: element.name,
      element,
      shape: 'value' as Shape,
      ...{ isOptional, isRepeated, children },
      definition: definition + (isOptional || isRepeated ? 1 : 0),
      repetition: repetition + (isRepeated ? 1 : 0),
      firstLeaf: leaves.length,
      endLeaf: leaves.length,
    };
    const path = [...above, node];
    const count = element.num_children ?? 0;
    if (element.type === undefined) {
      if (count < 1) throw damaged('a group of its schema is empty');
      for (let child = 0; child < count; child++) children.push(read(path, node.definition, node.repetition));
      node.shape = shapeOf(node);
    } else {
      if (count > 0) throw damaged('a column of its schema has children');
      leaves.push({ index: leaves.length, node, path });
    }
    node.endLeaf = leaves.length;
    return node;
  };
  const root = elements[next++];
  if (root === undefined || root.type !== undefined) throw damaged('its schema is incomplete');
  const columns = Array.from({ length: Math.min(root.num_children ?? 0, elements.length) }, () =>
    read([], 0, 0),
  );
  if (next !== elements.length || columns.length === 0) throw damaged('its schema is not a tree');
  return { columns, leaves };
}

/** By annotation (LogicalTypes.md of Parquet), also those of old writers. */
function shapeOf({ element, children }: Pick<SchemaNode, 'element' | 'children'>): Shape {
  const [only] = children;
  const holdsRepeated = children.length === 1 && only!.isRepeated;
  const { converted_type: converted, logical_type: logical } = element;
  if (holdsRepeated && (converted === 'LIST' || logical?.type === 'LIST')) return 'list';
  const isMap = converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
  return isMap && holdsRepeated && only!.children.length === 2 ? 'map' : 'struct';
}

/** The element of a list: inside the repeated group, or that group itself in files of old writers. */
export function elementOf(list: SchemaNode): SchemaNode {
  const repeated = list.children[0]!;
  const isElement =
    repeated.children.length !== 1 || repeated.name === 'array' || repeated.name === `${list.name}_tuple`;
  return isElement ? repeated : repeated.children[0]!;
}
