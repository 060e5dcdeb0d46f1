import { describe, expect, test } from 'vitest';
import { CsvReader } from '../../src/formats/csv/csv-reader.ts';
import { sniffDelimiter, sniffLineBreak } from '../../src/formats/csv/csv-dialect.ts';
import { plain, readAll } from './read-records.ts';

/** Tables as programs write them, with the fields they stand for. */
const TABLES: readonly [name: string, text: string, header: readonly string[], rows: readonly string[][]][] =
  [
    [
      'a comma in quotes',
      'first,last,address,city,zip\nJo,Roe,"120 any st.","Anytown, WW",08123\n',
      ['first', 'last', 'address', 'city', 'zip'],
      [['Jo', 'Roe', '120 any st.', 'Anytown, WW', '08123']],
    ],
    [
      'empty fields',
      'a,b,c\n1,"",""\n2,3,4\n',
      ['a', 'b', 'c'],
      [
        ['1', '', ''],
        ['2', '3', '4'],
      ],
    ],
    [
      'empty fields and CR LF',
      'a,b,c\r\n1,"",""\r\n2,3,4\r\n',
      ['a', 'b', 'c'],
      [
        ['1', '', ''],
        ['2', '3', '4'],
      ],
    ],
    [
      'doubled quotes',
      'a,b\n1,"ha ""ha"" ha"\n3,4\n',
      ['a', 'b'],
      [
        ['1', 'ha "ha" ha'],
        ['3', '4'],
      ],
    ],
    [
      'JSON in a cell',
      'key,val\n1,"{""type"": ""Point"", ""coordinates"": [102.0, 0.5]}"\n',
      ['key', 'val'],
      [['1', '{"type": "Point", "coordinates": [102.0, 0.5]}']],
    ],
    [
      'a quote inside a cell without quotes',
      'place,lat,inches\nHere,"1.5, 2.5",5" nail\nThere,0° 5\' 3.0" N,"a ""7"" nail"\n',
      ['place', 'lat', 'inches'],
      [
        ['Here', '1.5, 2.5', '5" nail'],
        ['There', '0° 5\' 3.0" N', 'a "7" nail'],
      ],
    ],
    [
      'line breaks in quotes',
      'a,b,c\n1,2,3\n"Once upon \na time",5,6\n7,8,9\n',
      ['a', 'b', 'c'],
      [
        ['1', '2', '3'],
        ['Once upon \na time', '5', '6'],
        ['7', '8', '9'],
      ],
    ],
    [
      'CR LF in quotes',
      'a,b,c\r\n1,2,3\r\n"Once upon \r\na time",5,6\r\n7,8,9\r\n',
      ['a', 'b', 'c'],
      [
        ['1', '2', '3'],
        ['Once upon \r\na time', '5', '6'],
        ['7', '8', '9'],
      ],
    ],
    [
      'doubled quotes and line breaks',
      'a,b\n1,"ha \n""ha"" \nha"\n3,4\n',
      ['a', 'b'],
      [
        ['1', 'ha \n"ha" \nha'],
        ['3', '4'],
      ],
    ],
    ['nothing special', 'a,b,c\n1,2,3\n', ['a', 'b', 'c'], [['1', '2', '3']]],
    ['nothing special and CR LF', 'a,b,c\r\n1,2,3', ['a', 'b', 'c'], [['1', '2', '3']]],
    [
      'letters beyond ASCII',
      'a,b,c\n1,2,3\n4,5,ʤ\n',
      ['a', 'b', 'c'],
      [
        ['1', '2', '3'],
        ['4', '5', 'ʤ'],
      ],
    ],
    [
      'CR CR LF, as text mode writes CR LF',
      'a,b\r\r\n1,"x"\r\r\n2,y\r\r\n',
      ['a', 'b'],
      [
        ['1', 'x'],
        ['2', 'y'],
      ],
    ],
    [
      'a lone quote and empty cells',
      'a,b,c\n,x"",\n,,"\n"\n',
      ['a', 'b', 'c'],
      [
        ['', 'x""', ''],
        ['', '', '\n'],
      ],
    ],
  ];

describe('a table with', () => {
  test.each(TABLES)('%s', (_name, text, header, rows) => {
    const bytes = Buffer.from(text);
    const delimiter = sniffDelimiter(bytes, null);
    expect(delimiter).toBe(',');
    for (const size of [1, 3, bytes.length]) {
      const dialect = {
        delimiter,
        lineBreak: sniffLineBreak(bytes),
        namesDelimiter: false,
        header: true,
        width: null,
      };
      const reader = new CsvReader(dialect, 10_000);
      const contents = readAll(reader, bytes, [size]).map(plain);
      expect(reader.header!.names).toEqual(header);
      const expected = rows.map((cells, index) => {
        const content = cells.map((cell, column) => [header[column], cell]);
        return expect.objectContaining({ row: index + 1, content }) as unknown;
      });
      expect(contents).toEqual(expected);
    }
  });
});
